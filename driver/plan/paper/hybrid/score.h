// SPDX-License-Identifier: Apache-2.0
#ifndef WC_HYBRID_SCORE_H
#define WC_HYBRID_SCORE_H

#include "driver/plan/account.h"
#include "driver/plan/paper/planner.h"

// How good the schedule's groups, which have been accounted, are by options->objective; less is better: DRAM bytes; most bytes in DRAM at once; or seconds, if each
// group takes the longer of its bytes at 150 GB/s and its MACs on a 128x128 array at 0.7 GHz, WaveCore's nominal figures for a core.
// 0 or WC_ERR_SYSTEM.
int hybrid_score(const struct paper_planner *planner, const struct account *account, double *score);

#endif
