/* SPDX-License-Identifier: ISC */
/* Addresses and names that may be connected to, with and without private_ok. */
#include <arpa/inet.h>
#include <netinet/in.h>

#include "mitmd/dialerd/screen.h"
#include "tap.h"

/* p: public; r: private, only if configured; n: never. */
static const struct {
	const char *text;
	char want;
} addresses[] = {
    {"8.8.8.8", 'p'}, {"1.1.1.1", 'p'}, {"160.79.104.10", 'p'},
    {"9.255.255.255", 'p'}, {"11.0.0.0", 'p'}, {"100.63.255.255", 'p'},
    {"100.128.0.0", 'p'}, {"126.255.255.255", 'p'}, {"128.0.0.0", 'p'},
    {"169.253.255.255", 'p'}, {"169.255.0.0", 'p'}, {"172.15.255.255", 'p'},
    {"172.32.0.0", 'p'}, {"191.255.255.255", 'p'}, {"192.0.1.0", 'p'},
    {"192.0.3.0", 'p'}, {"192.88.98.255", 'p'}, {"192.88.100.0", 'p'},
    {"192.167.255.255", 'p'}, {"192.169.0.0", 'p'}, {"198.17.255.255", 'p'},
    {"198.20.0.0", 'p'}, {"198.51.99.255", 'p'}, {"198.51.101.0", 'p'},
    {"203.0.112.255", 'p'}, {"203.0.114.0", 'p'}, {"223.255.255.255", 'p'},
    {"168.63.129.15", 'p'}, {"1.0.0.0", 'p'},

    {"10.0.0.0", 'r'}, {"10.255.255.255", 'r'}, {"100.64.0.0", 'r'},
    {"100.127.255.255", 'r'}, {"127.0.0.1", 'r'}, {"127.255.255.255", 'r'},
    {"172.16.0.0", 'r'}, {"172.31.255.255", 'r'}, {"192.168.0.0", 'r'},
    {"192.168.255.255", 'r'}, {"198.18.0.0", 'r'}, {"198.19.255.255", 'r'},

    {"0.0.0.0", 'n'}, {"0.255.255.255", 'n'}, {"100.100.100.200", 'n'},
    {"168.63.129.16", 'n'}, {"169.254.0.0", 'n'}, {"169.254.169.254", 'n'},
    {"169.254.255.255", 'n'}, {"192.0.0.0", 'n'}, {"192.0.0.192", 'n'},
    {"192.0.2.1", 'n'}, {"192.88.99.1", 'n'}, {"198.51.100.7", 'n'},
    {"203.0.113.7", 'n'}, {"224.0.0.1", 'n'}, {"239.255.255.255", 'n'},
    {"240.0.0.1", 'n'}, {"255.255.255.255", 'n'},

    {"2606:4700:4700::1111", 'p'}, {"2607:6bc0::10", 'p'},
    {"2001:200::1", 'p'}, {"2001:db7:ffff::1", 'p'}, {"2001:db9::1", 'p'},
    {"2000::1", 'p'}, {"3ffe:ffff::1", 'p'}, {"2a00:1450::1", 'p'},
    {"::ffff:8.8.8.8", 'p'}, {"64:ff9b::8.8.8.8", 'p'},
    {"2002:808:808::1", 'p'},

    {"::1", 'r'}, {"fc00::1", 'r'}, {"fdff:ffff::1", 'r'},
    {"fd00:ec2::253", 'r'},
    {"::ffff:127.0.0.1", 'r'}, {"::ffff:10.1.2.3", 'r'},
    {"64:ff9b::192.168.1.1", 'r'}, {"2002:7f00:1::1", 'r'},

    {"::", 'n'}, {"::2", 'n'}, {"::127.0.0.1", 'n'}, {"::8.8.8.8", 'n'},
    {"::ffff:169.254.169.254", 'n'}, {"::ffff:0.0.0.0", 'n'},
    {"64:ff9b::169.254.169.254", 'n'}, {"64:ff9b:1::1", 'n'},
    {"2002:a9fe:a9fe::1", 'n'}, {"100::1", 'n'}, {"fd00:ec2::254", 'n'},
    {"fd20:ce::254", 'n'}, {"fe80::1", 'n'}, {"febf::1", 'n'},
    {"fec0::1", 'n'}, {"ff02::1", 'n'}, {"ff0e::1", 'n'}, {"2001::1", 'n'},
    {"2001:10::1", 'n'}, {"2001:1ff::1", 'n'}, {"2001:db8::1", 'n'},
    {"3fff::1", 'n'}, {"3fff:fff::1", 'n'}, {"4000::1", 'n'}, {"5f00::1", 'n'},
    {"1fff::1", 'n'}, {"e000::1", 'n'}, {"0:0:0:0:fffe::1", 'n'},
};

static const struct {
	const char *text;
	char want;
} names[] = {
    {"api.anthropic.com", 'p'}, {"localhosts", 'p'}, {"mylocalhost", 'p'},
    {"local.example", 'p'}, {"notinternal", 'p'}, {"a", 'p'},
    {"localhost", 'r'}, {"LOCALHOST", 'r'}, {"localhost.", 'r'},
    {"a.localhost", 'r'}, {"printer.local", 'r'}, {"gw.corp.internal", 'r'},
    {"host.docker.internal", 'r'},
    {"metadata.google.internal", 'n'}, {"x.metadata.google.internal", 'n'},
    {"Metadata.Google.Internal.", 'n'}, {"metadata.azure.internal", 'n'},
};

static char
verdict(const char *public, const char *configured)
{
	if (public == NULL)
		return configured == NULL ? 'p' : '?';
	return configured == NULL ? 'r' : 'n';
}

static char
judge(const char *text)
{
	union {
		struct sockaddr sa;
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
	} u = {.in6 = {0}};

	if (inet_pton(AF_INET, text, &u.in.sin_addr) == 1)
		u.sa.sa_family = AF_INET;
	else if (inet_pton(AF_INET6, text, &u.in6.sin6_addr) == 1)
		u.sa.sa_family = AF_INET6;
	return verdict(screen_address(&u.sa, false),
	    screen_address(&u.sa, true));
}

int
main(void)
{
	struct sockaddr other = {.sa_family = AF_UNIX};
	struct span s;

	for (size_t i = 0; i < nitems(addresses); i++)
		is_int(judge(addresses[i].text), addresses[i].want, "%s: %c",
		    addresses[i].text, addresses[i].want);
	for (size_t i = 0; i < nitems(names); i++) {
		s = span_str(names[i].text);
		is_int(verdict(screen_name(s, false), screen_name(s, true)),
		    names[i].want, "%s: %c", names[i].text, names[i].want);
	}
	ok(screen_address(&other, true) != NULL, "another family: never");
	return tap_done();
}
