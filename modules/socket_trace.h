/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What net/socket.c consists of, on kernels 5.10 to 7.3: every function that
 * stands in it and can be probed on one of them. A kernel has those that its
 * compiler did not inline. init_once() is left out: many files have one of that
 * name, and it is the slab allocator that calls it.
 */
#ifndef TAP_SOCKET_TRACE_H
#define TAP_SOCKET_TRACE_H

#include "calls.h"

#define FUNCTION(function, returns)					\
	{ .name = #function, .value = TAP_VALUE_##returns }
/* One in which a thread can be for any time. */
#define SLEEPS(function, returns)					\
	{ .name = #function, .value = TAP_VALUE_##returns, .sleeps = true }
/* One that softirqs call. */
#define SOFTIRQ(function, returns)					\
	{ .name = #function, .value = TAP_VALUE_##returns, .softirq = true }
/* One that has another name, or another one's place, on other kernels. */
#define MOVED(function, returns, can_sleep, to)				\
	{ .name = #function, .alias = #to, .value = TAP_VALUE_##returns,	\
	  .sleeps = (can_sleep) }
#define WRAPPER(prefix, call, can_sleep)				\
	{ .name = prefix "sys_" #call, .alias = "sys_" #call,			\
	  .value = TAP_VALUE_LONG, .sleeps = (can_sleep) }
/* What SYSCALL_DEFINE() makes, asm/syscall_wrapper.h. */
#if defined(CONFIG_X86_64) && defined(CONFIG_IA32_EMULATION)
#define SYSCALL(call, can_sleep)					\
	WRAPPER("__x64_", call, can_sleep), WRAPPER("__ia32_", call, can_sleep)
#elif defined(CONFIG_X86_64)
#define SYSCALL(call, can_sleep) WRAPPER("__x64_", call, can_sleep)
#elif defined(CONFIG_ARM64)
#define SYSCALL(call, can_sleep) WRAPPER("__arm64_", call, can_sleep)
#else
#define SYSCALL(call, can_sleep) WRAPPER("", call, can_sleep)
#endif

static struct tap_function socket_trace_functions[] = {
	SLEEPS(____sys_recvmsg, INT),
	SLEEPS(____sys_sendmsg, INT),
	SLEEPS(___sys_recvmsg, INT),
	SLEEPS(___sys_sendmsg, INT),
	FUNCTION(__copy_msghdr, INT),
	MOVED(__copy_msghdr_from_user, INT, 0, __copy_msghdr),
	FUNCTION(__sock_create, INT),
	FUNCTION(__sock_recv_cmsgs, VOID),
	FUNCTION(__sock_recv_timestamp, VOID),
	MOVED(__sock_recv_ts_and_drops, VOID, 0, __sock_recv_cmsgs),
	FUNCTION(__sock_recv_wifi_status, VOID),
	SLEEPS(__sock_release, VOID),
	MOVED(__sock_sendmsg, INT, 1, sock_sendmsg),
	FUNCTION(__sock_tx_timestamp, VOID),
	SLEEPS(__sys_accept4, INT),
	MOVED(__sys_accept4_file, INT, 1, do_accept),
	FUNCTION(__sys_bind, INT),
	FUNCTION(__sys_bind_socket, INT),
	SLEEPS(__sys_connect, INT),
	SLEEPS(__sys_connect_file, INT),
	FUNCTION(__sys_getpeername, INT),
	FUNCTION(__sys_getsockname, INT),
	FUNCTION(__sys_getsockopt, INT),
	FUNCTION(__sys_listen, INT),
	FUNCTION(__sys_listen_socket, INT),
	SLEEPS(__sys_recvfrom, INT),
	SLEEPS(__sys_recvmmsg, INT),
	SLEEPS(__sys_recvmsg, LONG),
	SLEEPS(__sys_recvmsg_sock, LONG),
	SLEEPS(__sys_sendmmsg, INT),
	SLEEPS(__sys_sendmsg, LONG),
	SLEEPS(__sys_sendmsg_sock, LONG),
	SLEEPS(__sys_sendto, INT),
	FUNCTION(__sys_setsockopt, INT),
	FUNCTION(__sys_shutdown, INT),
	FUNCTION(__sys_shutdown_sock, INT),
	FUNCTION(__sys_socket, INT),
	FUNCTION(__sys_socket_file, POINTER),
	FUNCTION(__sys_socketpair, INT),
	FUNCTION(br_ioctl_call, INT),
	FUNCTION(brioctl_set, VOID),
	FUNCTION(call_trace_sock_recv_length, VOID),
	FUNCTION(compat_ifr_data_ioctl, INT),
	SLEEPS(compat_sock_ioctl, LONG),
	SLEEPS(connect_socket, INT),
	FUNCTION(copy_msghdr_from_user, INT),
	FUNCTION(dlci_ioctl_set, VOID),
	SLEEPS(do_accept, POINTER),
	FUNCTION(do_getsockname, INT),
	SLEEPS(do_recvmmsg, INT),
	FUNCTION(do_sock_getsockopt, INT),
	FUNCTION(do_sock_setsockopt, INT),
	FUNCTION(get_user_ifreq, INT),
	SLEEPS(kernel_accept, INT),
	FUNCTION(kernel_bind, INT),
	SLEEPS(kernel_connect, INT),
	FUNCTION(kernel_getpeername, INT),
	FUNCTION(kernel_getsockname, INT),
	FUNCTION(kernel_listen, INT),
	SLEEPS(kernel_recvmsg, INT),
	SLEEPS(kernel_sendmsg, INT),
	SLEEPS(kernel_sendmsg_locked, INT),
	SLEEPS(kernel_sendpage, INT),
	SLEEPS(kernel_sendpage_locked, INT),
	FUNCTION(kernel_sock_ip_overhead, INT),
	FUNCTION(kernel_sock_shutdown, INT),
	FUNCTION(move_addr_to_kernel, INT),
	FUNCTION(move_addr_to_user, INT),
	FUNCTION(put_user_ifreq, INT),
	FUNCTION(recvmsg_copy_msghdr, INT),
	FUNCTION(sendmsg_copy_msghdr, INT),
	FUNCTION(skb_get_tx_timestamp, INT),
	FUNCTION(skb_has_tx_timestamp, BOOL),
	FUNCTION(sock_alloc, POINTER),
	FUNCTION(sock_alloc_file, POINTER),
	FUNCTION(sock_alloc_inode, POINTER),
	SLEEPS(sock_close, INT),
	FUNCTION(sock_create, INT),
	FUNCTION(sock_create_kern, INT),
	FUNCTION(sock_create_lite, INT),
	SLEEPS(sock_do_ioctl, LONG),
	FUNCTION(sock_evict_inode, VOID),
	FUNCTION(sock_fasync, INT),
	SOFTIRQ(sock_free_inode, VOID),
	FUNCTION(sock_from_file, POINTER),
	SLEEPS(sock_ioctl, LONG),
	FUNCTION(sock_is_registered, BOOL),
	FUNCTION(sock_mmap, INT),
	FUNCTION(sock_poll, MASK),
	SLEEPS(sock_read_iter, LONG),
	FUNCTION(sock_read_xattr, INT),
	SLEEPS(sock_recvmsg, INT),
	FUNCTION(sock_register, INT),
	SLEEPS(sock_release, VOID),
	SLEEPS(sock_sendmsg, INT),
	SLEEPS(sock_sendpage, LONG),
	FUNCTION(sock_show_fdinfo, VOID),
	FUNCTION(sock_splice_eof, VOID),
	SLEEPS(sock_splice_read, LONG),
	FUNCTION(sock_unregister, VOID),
	SOFTIRQ(sock_wake_async, INT),
	SLEEPS(sock_write_iter, LONG),
	FUNCTION(socket_seq_show, VOID),
	FUNCTION(sockfd_lookup, POINTER),
	FUNCTION(sockfd_lookup_light, POINTER),
	FUNCTION(sockfs_dname, POINTER),
	FUNCTION(sockfs_init_fs_context, INT),
	FUNCTION(sockfs_listxattr, LONG),
	FUNCTION(sockfs_security_xattr_set, INT),
	FUNCTION(sockfs_setattr, INT),
	FUNCTION(sockfs_user_xattr_get, INT),
	FUNCTION(sockfs_user_xattr_set, INT),
	FUNCTION(sockfs_xattr_get, INT),
	FUNCTION(vlan_ioctl_set, VOID),
	SYSCALL(accept, 1),
	SYSCALL(accept4, 1),
	SYSCALL(bind, 0),
	SYSCALL(connect, 1),
	SYSCALL(getpeername, 0),
	SYSCALL(getsockname, 0),
	SYSCALL(getsockopt, 0),
	SYSCALL(listen, 0),
	SYSCALL(recv, 1),
	SYSCALL(recvfrom, 1),
	SYSCALL(recvmmsg, 1),
	SYSCALL(recvmmsg_time32, 1),
	SYSCALL(recvmsg, 1),
	SYSCALL(send, 1),
	SYSCALL(sendmmsg, 1),
	SYSCALL(sendmsg, 1),
	SYSCALL(sendto, 1),
	SYSCALL(setsockopt, 0),
	SYSCALL(shutdown, 0),
	SYSCALL(socket, 0),
	SYSCALL(socketcall, 1),
	SYSCALL(socketpair, 0),
};

#endif /* TAP_SOCKET_TRACE_H */
