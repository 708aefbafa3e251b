/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ADDRESS_H
#define ADDRESS_H

#include <arpa/inet.h>
#include <err.h>
#include <netinet/in.h>
#include <stdlib.h>

struct address {
	union {
		struct sockaddr sa;
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
	};
	socklen_t len;
};

/* An IPv4 or IPv6 address and a port from their text. */
static inline struct address address(const char *host, const char *port)
{
	struct address a = { .in6.sin6_family = AF_INET6, .len = sizeof(a.in6) };

	a.in6.sin6_port = htons(atoi(port));
	if (inet_pton(AF_INET6, host, &a.in6.sin6_addr) == 1)
		return a;
	a = (struct address){ .in.sin_family = AF_INET, .len = sizeof(a.in) };
	a.in.sin_port = htons(atoi(port));
	if (inet_pton(AF_INET, host, &a.in.sin_addr) != 1)
		errx(2, "neither IPv4 nor IPv6: %s", host);
	return a;
}

#endif /* ADDRESS_H */
