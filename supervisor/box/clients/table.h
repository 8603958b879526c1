/* SPDX-License-Identifier: ISC */
/*
 * Which program learns how that its only way out is the session's proxy, and
 * that it may trust the session's CA. This is the one list of it: the agent's
 * environment, the mounts over the files of Java, and the tests come from it.
 *
 * A program that is not named here uses one of the variables below "every
 * program", or the system's certificates, over which the session's are mounted
 * in a bubblewrap sandbox.
 */
#ifndef CLIENTS_TABLE_H
#define CLIENTS_TABLE_H

#define CLIENTS_DIR "/etc/ironcurtain"
#define CLIENTS_PROXY_HOST "127.0.0.1"
#define CLIENTS_PROXY_PORT "18080"
#define CLIENTS_PROXY "http://" CLIENTS_PROXY_HOST ":" CLIENTS_PROXY_PORT
/* The session's CA alone, and behind the system's certificates. */
#define CLIENTS_CERT CLIENTS_DIR "/ca-cert.pem"
#define CLIENTS_BUNDLE CLIENTS_DIR "/ca-bundle.pem"
/* The certificates of the bundle in the form of Java's keytool. */
#define CLIENTS_STORE "java-cacerts"
#define CLIENTS_NODE "node-proxy.cjs"

/*
 * The sandbox itself, in each form that some client needs and none refuses:
 * httpx does not start with [::1] in it, Java takes it from elsewhere (below),
 * and Go and Chromium need none of them.
 */
#define CLIENTS_DIRECT                                                         \
	"localhost,127.0.0.1,::1,127.0.0.0/8,0.0.0.0,.localhost,"              \
	"ironcurtain,ip6-localhost,ip6-loopback"

/* clang-format off */
#define CLIENTS_VARIABLES(V)						\
	/* every program: curl, wget, git, Go, cargo, rustup, npm,	\
	 * pnpm, Yarn 1, Bun, Deno, urllib, requests, httpx, pip, uv,	\
	 * Net::HTTP, gem, Bundler, Composer, R, .NET, Chromium */	\
	V("HTTPS_PROXY", CLIENTS_PROXY)					\
	V("HTTP_PROXY", CLIENTS_PROXY)					\
	V("https_proxy", CLIENTS_PROXY)					\
	V("http_proxy", CLIENTS_PROXY)					\
	V("NO_PROXY", CLIENTS_DIRECT)					\
	V("no_proxy", CLIENTS_DIRECT)					\
	/* OpenSSL's default: Ruby, PHP, Go, urllib, httpx, aiohttp,	\
	 * .NET, rustup, uv */						\
	V("SSL_CERT_FILE", CLIENTS_BUNDLE)				\
	/* the curl program, and R */					\
	V("CURL_CA_BUNDLE", CLIENTS_BUNDLE)				\
	V("GIT_SSL_CAINFO", CLIENTS_BUNDLE)				\
	/* Node, npm, pnpm, Yarn 1 and 4, Bun */			\
	V("NODE_EXTRA_CA_CERTS", CLIENTS_CERT)				\
	/* npm and pnpm, before the "cafile" of an npmrc, which replaces \
	 * the variable above; an image may have either spelling. They	\
	 * read all of it again for each connection */			\
	V("npm_config_cafile", CLIENTS_CERT)				\
	V("NPM_CONFIG_CAFILE", CLIENTS_CERT)				\
	V("PIP_CERT", CLIENTS_BUNDLE)					\
	/* requests, and conda */					\
	V("REQUESTS_CA_BUNDLE", CLIENTS_BUNDLE)				\
	V("UV_NATIVE_TLS", "1")						\
	V("CARGO_HTTP_CAINFO", CLIENTS_BUNDLE)				\
	V("DENO_CERT", CLIENTS_CERT)					\
	V("BUNDLE_SSL_CA_CERT", CLIENTS_BUNDLE)				\
	V("PERL_LWP_SSL_CA_FILE", CLIENTS_BUNDLE)			\
	V("NIX_SSL_CERT_FILE", CLIENTS_BUNDLE)				\
	V("HEX_CACERTS_PATH", CLIENTS_BUNDLE)				\
	V("JULIA_SSL_CA_ROOTS_PATH", CLIENTS_BUNDLE)			\
	V("GRPC_DEFAULT_SSL_ROOTS_FILE_PATH", CLIENTS_BUNDLE)		\
	V("AWS_CA_BUNDLE", CLIENTS_BUNDLE)				\
	V("CLOUDSDK_CORE_CUSTOM_CA_CERTS_FILE", CLIENTS_BUNDLE)		\
	V("CODEX_CA_CERTIFICATE", CLIENTS_BUNDLE)

/*
 * Options of a variable that the user may have set as well: IronCurtain's come
 * first, then those of the user's that clients_options() lets through. Node
 * knows a proxy from 22.21 on, and then only for its own clients; the file adds
 * the others. Maven, Gradle and sbt read the system properties of their own JVM
 * and not Java's file.
 */
#define CLIENTS_OPTIONS(O)						\
	O("NODE_OPTIONS", OPTIONS_NODE)					\
	O("MAVEN_OPTS", OPTIONS_JVM)					\
	O("GRADLE_OPTS", OPTIONS_JVM)					\
	O("SBT_OPTS", OPTIONS_JVM)

#define CLIENTS_NODE_OPTIONS "--require " CLIENTS_DIR "/" CLIENTS_NODE
#define CLIENTS_JVM_OPTIONS						\
	"-Dhttp.proxyHost=" CLIENTS_PROXY_HOST				\
	" -Dhttp.proxyPort=" CLIENTS_PROXY_PORT				\
	" -Dhttps.proxyHost=" CLIENTS_PROXY_HOST			\
	" -Dhttps.proxyPort=" CLIENTS_PROXY_PORT			\
	" -Djavax.net.ssl.trustStore=" CLIENTS_DIR "/" CLIENTS_STORE
/* Maven's own clients ask for the properties only if they are told to. */
#define CLIENTS_MAVEN_OPTIONS						\
	" -Daether.connector.http.useSystemProperties=true"		\
	" -Daether.transport.apache.useSystemProperties=true"

/*
 * A JDK that lies in the sandbox's system learns it by its own two files, on
 * which changed ones are mounted, since a variable makes each start print a
 * line. Where there is none, as in an image or after a download, it learns by
 * this variable.
 */
#define CLIENTS_JVM_VARIABLE "JAVA_TOOL_OPTIONS"

/*
 * Browsers have stores of their own, and learn the CA from a policy of the
 * machine. The copy of /etc has links at these places (ic-survey makes them),
 * which lead to files of the session; where these are missing, as in the
 * sandbox of a server, a browser ignores the link. Chromium knows this policy
 * from 131 on. Firefox's is told the proxy as well, since a desktop's settings
 * go before variables there.
 */
#define CLIENTS_CHROMIUM "chromium-policy.json"
#define CLIENTS_FIREFOX "firefox-policy.json"
#define CLIENTS_POLICIES(P)						\
	P("chromium/policies/managed/ironcurtain.json", CLIENTS_CHROMIUM) \
	P("opt/chrome/policies/managed/ironcurtain.json",		\
	    CLIENTS_CHROMIUM)						\
	P("opt/chrome_for_testing/policies/managed/ironcurtain.json",	\
	    CLIENTS_CHROMIUM)						\
	P("opt/edge/policies/managed/ironcurtain.json", CLIENTS_CHROMIUM) \
	P("brave/policies/managed/ironcurtain.json", CLIENTS_CHROMIUM)	\
	P("firefox/policies/policies.json", CLIENTS_FIREFOX)

/*
 * Debian's launcher of Chromium reads options from a directory. Chromium's own
 * sandbox needs namespaces, which no sandbox of a session gives: the session's
 * sandbox takes its place.
 */
#define CLIENTS_CHROMIUM_D "chromium.d"
#define CLIENTS_CHROMIUM_LINE						\
	"export CHROMIUM_FLAGS=\"$CHROMIUM_FLAGS --no-sandbox\"\n"

/* Places of JDKs; patterns of glob(7). */
#define CLIENTS_JDK_PLACES(P)						\
	P("/usr/lib/jvm/*")	P("/usr/lib64/jvm/*")	P("/usr/java/*")	\
	P("/usr/local/*")	P("/opt/*")	P("/opt/*/*")			\
	P("/opt/*/lib")		P("/nix/store/*-openjdk-*/lib/openjdk")	\
	P("/home/linuxbrew/.linuxbrew/opt/openjdk*/libexec")
/* The same, below a directory of "agentView". */
#define CLIENTS_JDK_BELOW(P)						\
	P("")	P("/*")	P("/candidates/java/*")	P("/installs/java/*")

/* Files of a JDK, 9 and later, and 8. */
#define CLIENTS_JDK_FILES(F)						\
	F("conf/net.properties", JDK_PROPERTIES)			\
	F("lib/net.properties", JDK_PROPERTIES)				\
	F("jre/lib/net.properties", JDK_PROPERTIES)			\
	F("lib/security/cacerts", JDK_STORE)				\
	F("jre/lib/security/cacerts", JDK_STORE)

/* A later line of a file of properties replaces an earlier one. */
#define CLIENTS_JDK_LINES						\
	"\n"								\
	"http.proxyHost=" CLIENTS_PROXY_HOST "\n"			\
	"http.proxyPort=" CLIENTS_PROXY_PORT "\n"			\
	"https.proxyHost=" CLIENTS_PROXY_HOST "\n"			\
	"https.proxyPort=" CLIENTS_PROXY_PORT "\n"			\
	"http.nonProxyHosts=localhost|127.*|[::1]|0.0.0.0|[::0]|"	\
	"*.localhost|ironcurtain\n"
/* clang-format on */

#endif
