/* SPDX-License-Identifier: ISC */
/*
 * The limits of a budget: their names in config.json, their ranges and their
 * defaults.
 */
#include "budget/budget.h"

#include <stdio.h>
#include <string.h>

/* Money and steps are limited by default, tokens and seconds are not. */
const struct budget_limits budget_dflt = {
    .on = {[BUDGET_STEPS] = true, [BUDGET_USD] = true},
    .max = {[BUDGET_STEPS] = 200, [BUDGET_USD] = 5},
    .warn = 80,
};

/* clang-format off */
#define BUDGET_STEP(s) "step" s " (tool calls and model requests)"
static const struct {
	const char *name, *unit, *one;
	double highest;
	bool whole;
} budget_rows[BUDGET_KEYS] = {
	[BUDGET_TOKENS] = {"maxTotalTokens", "tokens", "token", 1e12, true},
	[BUDGET_STEPS] = {"maxSteps", BUDGET_STEP("s"), BUDGET_STEP(""), 1e9, true},
	[BUDGET_SECONDS] = {"maxSessionSeconds", "seconds", "second", 1e8, true},
	[BUDGET_TURN] = {"maxTurnSeconds", "seconds", "second", 1e8, true},
	[BUDGET_USD] = {"maxEstimatedCostUsd", "USD", "USD", 1e6, false},
	[BUDGET_TURN_TOKENS] = {"maxTurnTokens", "tokens", "token", 1e12, true},
	[BUDGET_TURN_STEPS] = {"maxTurnSteps", BUDGET_STEP("s"), BUDGET_STEP(""),
	    1e9, true},
	[BUDGET_TURN_USD] = {"maxTurnEstimatedCostUsd", "USD", "USD", 1e6, false},
};
/* clang-format on */

const char *
budget_name(enum budget_key key)
{
	return budget_rows[key].name;
}

const char *
budget_unit(enum budget_key key, double n)
{
	return n == 1 ? budget_rows[key].one : budget_rows[key].unit;
}

bool
budget_is_turn(enum budget_key key)
{
	return key == BUDGET_TURN || key == BUDGET_TURN_TOKENS ||
	       key == BUDGET_TURN_STEPS || key == BUDGET_TURN_USD;
}

enum budget_key
budget_of_session(enum budget_key key)
{
	switch (key) {
	case BUDGET_TURN_TOKENS:
		return BUDGET_TOKENS;
	case BUDGET_TURN_STEPS:
		return BUDGET_STEPS;
	case BUDGET_TURN_USD:
		return BUDGET_USD;
	case BUDGET_TURN:
		return BUDGET_SECONDS;
	case BUDGET_TOKENS:
	case BUDGET_STEPS:
	case BUDGET_SECONDS:
	case BUDGET_USD:
	case BUDGET_KEYS:
		break;
	}
	return key;
}

int
budget_find(const char *name)
{
	for (int i = 0; i < BUDGET_KEYS; i++) {
		if (strcmp(budget_rows[i].name, name) == 0)
			return i;
	}
	return -1;
}

bool
budget_value_ok(enum budget_key key, double v)
{
	return v >= 0 && v <= budget_rows[key].highest &&
	       (!budget_rows[key].whole || v == (double)(uint64_t)v);
}

const char *
budget_wants(enum budget_key key, char *dst, size_t cap)
{
	snprintf(dst, cap,
	    "%s must be a %snumber from 0 to %.15g, or null for no limit",
	    budget_rows[key].name, budget_rows[key].whole ? "whole " : "",
	    budget_rows[key].highest);
	return dst;
}
