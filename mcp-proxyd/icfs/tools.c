/* SPDX-License-Identifier: ISC */
/*
 * The tools.  Names, schemas and annotations are those of the reference
 * filesystem server, so that policies and habits written for that one work
 * here.  Entries are canonical JSON.
 */
#include "icfs/icfs.h"

/* clang-format off */
#define TEXT_OUT \
	"{\"$schema\":\"http://json-schema.org/draft-07/schema#\"," \
	"\"additionalProperties\":false,\"properties\":{\"content\":{" \
	"\"type\":\"string\"}},\"required\":[\"content\"],\"type\":" \
	"\"object\"}"

#define PATH_IN \
	"{\"$schema\":\"http://json-schema.org/draft-07/schema#\"," \
	"\"properties\":{\"path\":{\"type\":\"string\"}},\"required\":[" \
	"\"path\"],\"type\":\"object\"}"

#define READ_IN \
	"{\"$schema\":\"http://json-schema.org/draft-07/schema#\"," \
	"\"properties\":{\"head\":{\"description\":\"If provided, returns " \
	"only the first N lines of the file\",\"type\":\"number\"}," \
	"\"path\":{\"type\":\"string\"},\"tail\":{\"description\":\"If " \
	"provided, returns only the last N lines of the file\",\"type\":" \
	"\"number\"}},\"required\":[\"path\"],\"type\":\"object\"}"

const struct icfs_tool icfs_tools[] = {
	{"read_file", icfs_read_text, false, false,
	    "{\"annotations\":{\"openWorldHint\":false,\"readOnlyHint\":"
	    "true},\"description\":\"Reads a file as text. The older name of "
	    "read_text_file.\",\"inputSchema\":"
	    READ_IN
	    ",\"name\":\"read_file\",\"outputSchema\":"
	    TEXT_OUT
	    ",\"title\":\"Read File (older name)\"}"},
	{"read_text_file", icfs_read_text, false, false,
	    "{\"annotations\":{\"openWorldHint\":false,\"readOnlyHint\":"
	    "true},\"description\":\"Reads a file as text, or its first "
	    "(head) or last (tail) lines. Bytes that are not UTF-8 appear as "
	    "U+FFFD. At most 2 MiB at a time. Only within the allowed "
	    "directories.\",\"inputSchema\":"
	    READ_IN
	    ",\"name\":\"read_text_file\",\"outputSchema\":"
	    TEXT_OUT
	    ",\"title\":\"Read Text File\"}"},
	{"read_media_file", icfs_read_media, false, true,
	    "{\"annotations\":{\"openWorldHint\":false,\"readOnlyHint\":"
	    "true},\"description\":\"Reads a file as base64 with its MIME "
	    "type: images and audio as such, anything else as an embedded "
	    "resource. At most 1.5 MiB. Only within the allowed "
	    "directories.\",\"inputSchema\":"
	    PATH_IN
	    ",\"name\":\"read_media_file\",\"outputSchema\":{\"$schema\":"
	    "\"http://json-schema.org/draft-07/schema#\","
	    "\"additionalProperties\":false,\"properties\":{\"content\":{"
	    "\"items\":{\"anyOf\":[{\"additionalProperties\":false,"
	    "\"properties\":{\"data\":{\"type\":\"string\"},\"mimeType\":{"
	    "\"type\":\"string\"},\"type\":{\"enum\":[\"image\",\"audio\"],"
	    "\"type\":\"string\"}},\"required\":[\"type\",\"data\","
	    "\"mimeType\"],\"type\":\"object\"},{\"additionalProperties\":"
	    "false,\"properties\":{\"resource\":{\"additionalProperties\":"
	    "false,\"properties\":{\"blob\":{\"type\":\"string\"},"
	    "\"mimeType\":{\"type\":\"string\"},\"uri\":{\"type\":"
	    "\"string\"}},\"required\":[\"uri\",\"blob\"],\"type\":"
	    "\"object\"},\"type\":{\"const\":\"resource\",\"type\":"
	    "\"string\"}},\"required\":[\"type\",\"resource\"],\"type\":"
	    "\"object\"}]},\"type\":\"array\"}},\"required\":[\"content\"],"
	    "\"type\":\"object\"},\"title\":\"Read Media File\"}"},
	{"read_multiple_files", icfs_read_multiple, false, false,
	    "{\"annotations\":{\"openWorldHint\":false,\"readOnlyHint\":"
	    "true},\"description\":\"Reads several files as text; one that "
	    "cannot be read is reported in its place and does not stop the "
	    "others. Only within the allowed directories.\",\"inputSchema\":{"
	    "\"$schema\":\"http://json-schema.org/draft-07/schema#\","
	    "\"properties\":{\"paths\":{\"description\":\"Array of file "
	    "paths to read. Each path must be a string pointing to a valid "
	    "file within allowed directories.\",\"items\":{\"type\":"
	    "\"string\"},\"minItems\":1,\"type\":\"array\"}},\"required\":["
	    "\"paths\"],\"type\":\"object\"},\"name\":"
	    "\"read_multiple_files\",\"outputSchema\":"
	    TEXT_OUT
	    ",\"title\":\"Read Multiple Files\"}"},
	{"write_file", icfs_write, true, false,
	    "{\"annotations\":{\"destructiveHint\":true,\"idempotentHint\":"
	    "true,\"openWorldHint\":false,\"readOnlyHint\":false},"
	    "\"description\":\"Writes a file, new or in place of the old one,"
	    " all at once. The directory must exist. Only within the allowed "
	    "directories.\",\"inputSchema\":{\"$schema\":\"http:"
	    "//json-schema.org/draft-07/schema#\",\"properties\":{"
	    "\"content\":{\"type\":\"string\"},\"path\":{\"type\":"
	    "\"string\"}},\"required\":[\"path\",\"content\"],\"type\":"
	    "\"object\"},\"name\":\"write_file\",\"outputSchema\":"
	    TEXT_OUT
	    ",\"title\":\"Write File\"}"},
	{"edit_file", icfs_edit_file, true, false,
	    "{\"annotations\":{\"destructiveHint\":true,\"idempotentHint\":"
	    "false,\"openWorldHint\":false,\"readOnlyHint\":false},"
	    "\"description\":\"Replaces pieces of text in a file and returns "
	    "the changes as a diff. An old text that is not found as it is "
	    "is looked for line by line, white space at both ends aside. "
	    "With dryRun nothing is written. Only within the allowed "
	    "directories.\",\"inputSchema\":{\"$schema\":\"http:"
	    "//json-schema.org/draft-07/schema#\",\"properties\":{\"dryRun\":"
	    "{\"default\":false,\"description\":\"Preview changes using "
	    "git-style diff format\",\"type\":\"boolean\"},\"edits\":{"
	    "\"items\":{\"properties\":{\"newText\":{\"description\":\"Text "
	    "to replace with\",\"type\":\"string\"},\"oldText\":{"
	    "\"description\":\"Text to search for - must match exactly\","
	    "\"type\":\"string\"}},\"required\":[\"oldText\",\"newText\"],"
	    "\"type\":\"object\"},\"type\":\"array\"},\"path\":{\"type\":"
	    "\"string\"}},\"required\":[\"path\",\"edits\"],\"type\":"
	    "\"object\"},\"name\":\"edit_file\",\"outputSchema\":"
	    TEXT_OUT
	    ",\"title\":\"Edit File\"}"},
	{"create_directory", icfs_create_directory, true, false,
	    "{\"annotations\":{\"destructiveHint\":false,\"idempotentHint\":"
	    "true,\"openWorldHint\":false,\"readOnlyHint\":false},"
	    "\"description\":\"Makes a directory and those above it that are "
	    "missing; one that exists is left as it is. Only within the "
	    "allowed directories.\",\"inputSchema\":"
	    PATH_IN
	    ",\"name\":\"create_directory\",\"outputSchema\":"
	    TEXT_OUT
	    ",\"title\":\"Create Directory\"}"},
	{"list_directory", icfs_list, false, false,
	    "{\"annotations\":{\"openWorldHint\":false,\"readOnlyHint\":"
	    "true},\"description\":\"Lists a directory, each entry marked ["
	    "DIR] or [FILE]. Links are not followed. Only within the allowed "
	    "directories.\",\"inputSchema\":"
	    PATH_IN
	    ",\"name\":\"list_directory\",\"outputSchema\":"
	    TEXT_OUT
	    ",\"title\":\"List Directory\"}"},
	{"list_directory_with_sizes", icfs_list_sizes, false, false,
	    "{\"annotations\":{\"openWorldHint\":false,\"readOnlyHint\":"
	    "true},\"description\":\"Lists a directory with sizes and their "
	    "sum, by name or by size. Only within the allowed directories.\","
	    "\"inputSchema\":{\"$schema\":\"http:"
	    "//json-schema.org/draft-07/schema#\",\"properties\":{\"path\":{"
	    "\"type\":\"string\"},\"sortBy\":{\"default\":\"name\","
	    "\"description\":\"Sort entries by name or size\",\"enum\":["
	    "\"name\",\"size\"],\"type\":\"string\"}},\"required\":["
	    "\"path\"],\"type\":\"object\"},\"name\":"
	    "\"list_directory_with_sizes\",\"outputSchema\":"
	    TEXT_OUT
	    ",\"title\":\"List Directory with Sizes\"}"},
	{"directory_tree", icfs_tree, false, false,
	    "{\"annotations\":{\"openWorldHint\":false,\"readOnlyHint\":"
	    "true},\"description\":\"Shows everything below a directory as "
	    "JSON: name, type, and children of directories. excludePatterns "
	    "leave out what matches. Links are not followed. Only within the "
	    "allowed directories.\",\"inputSchema\":{\"$schema\":\"http:"
	    "//json-schema.org/draft-07/schema#\",\"properties\":{"
	    "\"excludePatterns\":{\"default\":[],\"items\":{\"type\":"
	    "\"string\"},\"type\":\"array\"},\"path\":{\"type\":\"string\"}},"
	    "\"required\":[\"path\"],\"type\":\"object\"},\"name\":"
	    "\"directory_tree\",\"outputSchema\":"
	    TEXT_OUT
	    ",\"title\":\"Directory Tree\"}"},
	{"move_file", icfs_move, true, false,
	    "{\"annotations\":{\"destructiveHint\":true,\"idempotentHint\":"
	    "false,\"openWorldHint\":false,\"readOnlyHint\":false},"
	    "\"description\":\"Moves or renames a file, directory or link; "
	    "never over something that exists. Both places must be within "
	    "the allowed directories.\",\"inputSchema\":{\"$schema\":\"http:"
	    "//json-schema.org/draft-07/schema#\",\"properties\":{"
	    "\"destination\":{\"type\":\"string\"},\"source\":{\"type\":"
	    "\"string\"}},\"required\":[\"source\",\"destination\"],\"type\":"
	    "\"object\"},\"name\":\"move_file\",\"outputSchema\":"
	    TEXT_OUT
	    ",\"title\":\"Move File\"}"},
	{"search_files", icfs_search, false, false,
	    "{\"annotations\":{\"openWorldHint\":false,\"readOnlyHint\":"
	    "true},\"description\":\"Finds files and directories whose path "
	    "below the given one matches a glob pattern (* ? [] {a,b}, ** "
	    "for any number of directories). Only within the allowed "
	    "directories.\",\"inputSchema\":{\"$schema\":\"http:"
	    "//json-schema.org/draft-07/schema#\",\"properties\":{"
	    "\"excludePatterns\":{\"default\":[],\"items\":{\"type\":"
	    "\"string\"},\"type\":\"array\"},\"path\":{\"type\":\"string\"},"
	    "\"pattern\":{\"type\":\"string\"}},\"required\":[\"path\","
	    "\"pattern\"],\"type\":\"object\"},\"name\":\"search_files\","
	    "\"outputSchema\":"
	    TEXT_OUT
	    ",\"title\":\"Search Files\"}"},
	{"get_file_info", icfs_info, false, false,
	    "{\"annotations\":{\"openWorldHint\":false,\"readOnlyHint\":"
	    "true},\"description\":\"Tells size, times, type and permissions "
	    "of a file or directory. Only within the allowed directories.\","
	    "\"inputSchema\":"
	    PATH_IN
	    ",\"name\":\"get_file_info\",\"outputSchema\":"
	    TEXT_OUT
	    ",\"title\":\"Get File Info\"}"},
	{"list_allowed_directories", icfs_allowed, false, false,
	    "{\"annotations\":{\"openWorldHint\":false,\"readOnlyHint\":"
	    "true},\"description\":\"Lists the directories that this server "
	    "may use; everything below them may be used too.\","
	    "\"inputSchema\":{\"$schema\":\"http:"
	    "//json-schema.org/draft-07/schema#\",\"properties\":{},\"type\":"
	    "\"object\"},\"name\":\"list_allowed_directories\","
	    "\"outputSchema\":"
	    TEXT_OUT
	    ",\"title\":\"List Allowed Directories\"}"},
};
/* clang-format on */
const size_t icfs_ntools = nitems(icfs_tools);
