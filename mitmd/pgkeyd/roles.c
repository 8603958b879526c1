/* SPDX-License-Identifier: ISC */
/*
 * The question whether the database's user could leave the database: as a
 * superuser, or by a role that reads or writes files of the server's machine,
 * or runs programs there; directly, or by SET ROLE. Before PostgreSQL 16 a role
 * with CREATEROLE can give itself those. The agent chooses the search_path, so
 * that every function, type and operator is named with its schema.
 */
#include "pgkeyd/pgkeyd.h"

#define NAMED(role)                                                            \
	"r.rolname OPERATOR(pg_catalog.=) '" role "'::pg_catalog.name"

const char
    roles_query[] =
	"SELECT r.rolname FROM pg_catalog.pg_roles r WHERE (r.rolsuper"
	" OR " NAMED("pg_read_server_files") " OR " NAMED("pg_write_server_"
							  "files") " OR " NAMED(
	    "pg_execute_server_program") " OR (r.rolcreaterole AND "
					 "pg_catalog.current_setting("
					 "'server_version_num'::pg_catalog."
					 "text)::pg_catalog.int4"
					 " OPERATOR(pg_catalog.<) "
					 "160000::pg_catalog.int4))"
					 " AND "
					 "pg_catalog.pg_has_role(SESSION_USER::"
					 "pg_catalog.name, r.oid,"
					 " 'MEMBER'::pg_catalog.text) LIMIT 1";
