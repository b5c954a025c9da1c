// SPDX-License-Identifier: Apache-2.0
//
// Growing a schedule: the parser and the planners add groups, strips and statements here. Each
// function returns NULL or a negative value when memory runs out and leaves the schedule releasable.
#ifndef WC_PLAN_BUILD_H
#define WC_PLAN_BUILD_H

#include "driver/plan/schedule.h"

// A new last group with zeroed policies for `node_count` nodes. Pointers to earlier groups become invalid.
struct sched_group *build_group(struct schedule *schedule, enum sched_phase phase, int first, int last, int node_count);
// The same for a group that stands alone, e.g. a candidate.
int build_group_init(struct sched_group *group, enum sched_phase phase, int first, int last, int node_count);
// A new last strip. Pointers to earlier strips of the group become invalid.
struct sched_strip *build_strip(struct sched_group *group);
// A new last statement.
int build_statement(struct sched_strip *strip, const struct sched_statement *statement);

// Move a group that stands alone into the schedule; the source is left empty, also on failure.
int build_append(struct schedule *schedule, struct sched_group *group);
// Release all groups.
void build_drop_groups(struct schedule *schedule);

#endif
