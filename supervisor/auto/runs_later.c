/* SPDX-License-Identifier: ISC */
/* Files that are run or obeyed later: a person decides about these. */
#include "auto/asked.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdio.h>

/* clang-format off */
/* By the name of the file, in small letters. */
static const char *const later_names[] = {
	/* builds */
	"makefile*", "gnumakefile", "*.mk", "justfile", "taskfile*", "rakefile*",
	"gemfile*", "cmakelists.txt", "*.cmake", "meson*.build", "meson.options",
	"meson_options.txt", "configure*", "*.gradle*", "gradlew*", "mvnw*",
	"pom.xml", "build", "build.*", "workspace", "workspace.*", "*.bzl",
	"sconstruct", "sconscript", "wscript", "*.ninja", "*.csproj", "*.vcxproj",
	"*.sln", "*.props", "*.targets", "*.sbt", "ant.xml", "dune*", "*.cabal",
	/* packages: they choose what is installed, and run scripts */
	"package*.json", "*lock.json", "*.lock", "*-lock.yaml", "npm-*.json",
	"pyproject.toml", "setup.cfg", "requirements*.txt", "pipfile*", "tox.ini",
	"cargo.toml", "go.mod", "go.sum", "go.work", "composer.json",
	"deno.json*", "bun*.toml", "podfile*", "*.podspec", "*.gemspec",
	"environment.y*ml", "mise.toml", "*.nix", "turbo.json", "nx.json",
	"lerna.json", "tsconfig*.json", "jsconfig.json", "*.code-workspace",
	/* CI, containers and machines */
	"*-ci.y*ml", "jenkinsfile*", "azure-pipelines*", "bitbucket-pipelines*",
	"appveyor.y*ml", "cloudbuild.*", "buildspec.*", "wercker.y*ml",
	"dockerfile*", "*.dockerfile", "containerfile*", "docker-compose*",
	"compose*.y*ml", "vagrantfile*", "procfile*", "*.tf", "*.tfvars",
	"playbook*.y*ml", "lefthook.y*ml", "fastfile", "*.service", "*.timer",
	"*.socket", "*.path", "*.mount", "*.desktop", "*.plist", "*.rules",
	"crontab*", "authorized_keys*", "known_hosts*", "sudoers*", "*rc",
	"*profile", "*.conf", "bash_*", "zsh*",
	/* programs and scripts */
	"*.sh", "*.bash", "*.zsh", "*.fish", "*.ksh", "*.csh", "*.command",
	"*.bat", "*.cmd", "*.ps1", "*.psm1", "*.exe", "*.com", "*.msi", "*.dll",
	"*.so", "*.so.*", "*.dylib", "*.jar", "*.war", "*.deb", "*.rpm", "*.apk",
	"*.appimage", "*.run", "*.bin", "*.elf", "*.o", "*.ko", "*.wasm", "*.vbs",
	"*.lnk", "*.scpt", "*.py", "*.pyc", "*.pyw", "*.pth", "*.pl", "*.pm",
	"*.rb", "*.js", "*.mjs", "*.cjs", "*.jsx", "*.ts", "*.mts", "*.cts",
	"*.tsx", "*.php", "*.lua", "*.tcl", "*.r", "*.jl", "*.el", "*.vim",
	"*.awk", "*.sed", "*.groovy", "*.ipynb", "*.sql", "*.docm", "*.xlsm",
	"*.pptm", "*.hta", "*.reg", "*.out",
	/* instructions for agents */
	"claude*.md", "agents*.md", "gemini*.md", "copilot*.md", "opencode.json",
	"mcp*.json", "*.mcp.json", "skill.md", "conventions.md",
};

/* In any directory of these names. */
static const char *const later_dirs[] = {"bin", "sbin", "libexec", "scripts",
	"script", "hooks", "ci", "init.d", "rc.d", "cron*", "autostart",
	"systemd", "launchagents", "launchdaemons", "profile.d", "node_modules",
	"site-packages", "venv", "vendor", "plugins", "extensions", "skills",
	"commands", "startup", "tools"};

/* At the beginning of a path: the system's own directories. */
static const char *const later_roots[] = {"/etc/", "/usr/", "/bin/", "/sbin/",
	"/lib", "/opt/", "/boot/", "/var/spool/", "/root/", "/dev/", "/proc/",
	"/sys/", "/run/"};
/* clang-format on */

static bool
matches(const char *part, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (fnmatch(list[i], part, 0) == 0)
			return true;
	return false;
}

bool
asked_runs_later(struct span path)
{
	char part[256];
	size_t n = 0;

	for (size_t i = 0; i < nitems(later_roots); i++)
		if (span_starts(path, span_str(later_roots[i])))
			return true;
	for (size_t i = 0; i <= path.len; i++) {
		if (i < path.len && path.p[i] != '/') {
			if (n + 1 >= sizeof(part))
				return true;
			part[n++] = (char)tolower(path.p[i]);
			continue;
		}
		part[n] = '\0';
		if (part[0] == '.' ||
		    (i < path.len
			    ? matches(part, later_dirs, nitems(later_dirs))
			    : matches(part, later_names, nitems(later_names))))
			return true;
		n = 0;
	}
	return false;
}
