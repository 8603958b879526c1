/* SPDX-License-Identifier: ISC */
/*
 * `icctl mcp`: the user's own MCP servers. Each command takes argc and argv
 * that begin with its name, and returns an exit status of icctl.
 */
#ifndef ICCTL_MCP_H
#define ICCTL_MCP_H

struct icctl;

int mcp_add(struct icctl *, int argc, char **argv);
int mcp_annotate(struct icctl *, int argc, char **argv);
int mcp_import(struct icctl *, int argc, char **argv);
int mcp_login(struct icctl *, int argc, char **argv);
int mcp_logout(struct icctl *, int argc, char **argv);
int mcp_ls(struct icctl *, int argc, char **argv);
int mcp_rm(struct icctl *, int argc, char **argv);
int mcp_status(struct icctl *, int argc, char **argv);
int mcp_test(struct icctl *, int argc, char **argv);

#endif
