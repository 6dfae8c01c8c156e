#include "beamtop/etf/check.h"
typedef int etf_check_is_written_next;
