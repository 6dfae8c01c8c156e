/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The secret shared with the target. A cookie is never logged, recorded or put into an error text,
 * and its memory is wiped after use. */
#ifndef BEAMTOP_LINK_COOKIE_H
#define BEAMTOP_LINK_COOKIE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "beamtop/base/error.h"
#include "beamtop/base/limits.h"

/* In order of precedence. */
enum cookie_origin {
    COOKIE_NONE,
    COOKIE_PATTERNS,   /* --cookies, or the configuration's file of them */
    COOKIE_FILE,       /* --cookie-file */
    COOKIE_ENV,        /* BEAMTOP_COOKIE */
    COOKIE_OPTION,     /* --cookie */
    COOKIE_DISCOVERED, /* the target's command line or its owner's home */
    COOKIE_FAR,        /* the same, of another host: read there by the way that leads to it */
    COOKIE_HOME,       /* our own ~/.erlang.cookie */
};

struct cookie {
    char text[LIMIT_COOKIE_BYTES + 1];
    enum cookie_origin origin;
    uid_t uid; /* whose it is: the owner of its file; of one on a command line, of its process */
};

/* What the caller found; NULL where there is none. The environment is read by the caller. */
struct cookie_places {
    const char *file;            /* a path */
    const char *env;             /* a value */
    const char *option;          /* a value */
    const char *discovered;      /* a value */
    uid_t discovered_uid;        /* whose it is */
    const char *home;            /* our home directory */
    const char *xdg_config_home; /* NULL: HOME/.config */
};

/*
 * Takes the first source that is given. A source that is given but cannot be used (unreadable
 * file, empty or too long) is an error rather than passed over. With none given and no file in the
 * home directory: ERR_NOT_FOUND, and the text says how to give one. */
int cookie_find(struct cookie *out, const struct cookie_places *places, struct error *err);

/* The first line of a file, without white space around it. Its mode is not our business. */
int cookie_read_file(struct cookie *out, const char *path, struct error *err);

/*
 * Of a file of cookies: a line is a pattern of names as in a shell, a blank and the cookie; what
 * begins with a # is a comment. The first line that fits the node's full name counts.
 * ERR_NOT_FOUND: no line does; ERR_USAGE: the file is missing, others can read it, or an earlier
 * line lacks its cookie. */
int cookie_match_file(struct cookie *out, const char *path, const char *node, struct error *err);

int cookie_set(struct cookie *out, const char *text, size_t len, enum cookie_origin origin,
               struct error *err);
void cookie_wipe(struct cookie *c);
const char *cookie_origin_text(enum cookie_origin s); /* "--cookie-file" … */
/* Found, not given for this node: only for nodes of the same user. */
bool cookie_is_guarded(const struct cookie *c);

#endif
