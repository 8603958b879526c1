/* SPDX-License-Identifier: ISC */
/*
 * The names in /etc that a sandbox does not get, and the exceptions. They are
 * patterns of fnmatch(3) without regard to case, for a path below /etc; `*`
 * also stands for slashes. A pattern that fits a directory fits all below it.
 */
#ifndef SURVEY_ETC_TABLE_H
#define SURVEY_ETC_TABLE_H

/* clang-format off */

/* IronCurtain makes these up, or the sandbox has none. */
#define ETC_MADE_UP(P)							\
	P("passwd")	P("group")	P("hosts")	P("hostname")	\
	P("nsswitch.conf")	P("resolv.conf")	P("ironcurtain")

#define ETC_LEFT_OUT(P)							\
	/* accounts, and who may become whom */				\
	P("shadow*")	P("gshadow*")	P("passwd[-.~]*")		\
	P("group[-.~]*")	P("subuid*")	P("subgid*")		\
	P("security/opasswd*")	P(".pwd.lock")	P("sudo*")		\
	P("doas.conf*")	P("polkit-1")	P("userdb*")			\
	/* which machine this is, its disks and its cloud */		\
	P("machine-id*")	P("machine-info")	P("hostid")	\
	P("mailname")	P("fstab*")	P("crypttab*")	P("adjtime")	\
	P("iscsi")	P("nvme")	P("multipath*")	P("lvm")	\
	P("mdadm*")	P("zfs")	P("cloud*")	P("waagent.conf*")	\
	P("oci*")	P("google*")	P("aws*")	P("amazon*")	\
	P("azure*")	P("boto*")	P("s3*")	P("rclone*")	\
	/* the networks that it is in */				\
	P("NetworkManager")	P("netplan")	P("network")		\
	P("network/*")	P("systemd/network*")	P("sysconfig/network*")	\
	P("wpa_supplicant*")	P("iwd")	P("connman")	P("wicked")	\
	P("dhcp*")	P("hostapd*")	P("ModemManager")	P("wvdial*")	\
	P("chatscripts")	P("ppp")	P("diald*")	P("radvd*")	\
	P("dnsmasq*")	P("unbound")	P("bind")	P("named*")	\
	P("rndc*")	P("resolvconf*")	P("resolv.conf*")	\
	P("systemd/resolved*")	P("avahi")	P("firewalld")	P("ufw")	\
	P("nftables*")	P("iptables*")	P("shorewall*")	P("ethers")	\
	P("hosts.equiv")	P("wifi*")	P("bluetooth")		\
	/* ssh and other ways in */					\
	P("ssh")	P("sshd*")	P("dropbear*")	P("tinyssh*")	\
	P("xrdp")	P("vnc*")	P("tigervnc")	P("x2go")	\
	P("guacamole")	P("shellinabox*")	P("teleport*")		\
	/* virtual private networks and tunnels */			\
	P("wireguard*")	P("amnezia*")	P("openvpn*")	P("ipsec*")	\
	P("strongswan*")	P("swanctl")	P("libreswan*")		\
	P("racoon*")	P("iked*")	P("vpnc*")	P("vpn*")	\
	P("openconnect*")	P("ocserv*")	P("openfortivpn*")	\
	P("forticlient*")	P("xl2tpd*")	P("pptp*")	P("tinc*")	\
	P("nebula*")	P("tailscale*")	P("headscale*")	P("zerotier*")	\
	P("netbird*")	P("netmaker*")	P("stunnel*")	P("softether*")	\
	P("mullvad*")	P("nordvpn*")	P("protonvpn*")	P("cloudflare*")	\
	P("warp*")	P("ngrok*")	P("frp*")	P("v2ray*")	\
	P("xray*")	P("shadowsocks*")	P("sing-box")	P("tor")	\
	P("i2p*")							\
	/* jobs of the machine */					\
	P("cron*")	P("anacron*")	P("fcron*")	P("incron*")	\
	P("at.allow")	P("at.deny")	P("systemd/system*")		\
	P("systemd/user*")	P("systemd/nspawn")	P("init.d")	\
	P("rc?.d")	P("rcS.d")	P("credstore*")			\
	/* keys and tickets */						\
	P("*keytab*")	P("*.key")						\
	P("*.secrets")	P("*secret")	P("*secrets")	P("krb5kdc")	\
	P("letsencrypt")	P("acme*")	P("certbot")	P("dehydrated")	\
	P("pki/entitlement*")	P("pki/consumer*")	P("pki/product*")	\
	P("rhsm*")	P("dkim*")	P("opendkim*")	P("luks*")	\
	P("tpm*")	P("ipa")	P("pam_pkcs11")	P("u2f*")	\
	P("yubi*")	P("fscrypt*")	P("clevis*")	P("keys")	\
	P("*htpasswd*")	P("*htdigest*")	P("*passwd.client*")		\
	P("*sasl*passwd*")	P("*.pgpass")	P("pgpass*")	P("*netrc")	\
	P("apt/auth.conf*")	P("zypp/credentials*")	P("*credentials*")	\
	/* servers and agents of the machine that hold passwords */	\
	P("mysql/debian*")	P("postfix")	P("exim*")	P("sendmail*")	\
	P("mail")	P("dovecot*")	P("msmtp*")	P("ssmtp*")	\
	P("nullmailer*")	P("mailutils*")	P("fetchmail*")		\
	P("getmail*")	P("cups*")	P("samba")	P("smb*")	\
	P("cifs*")	P("auto.*")	P("autofs*")	P("exports*")	\
	P("sssd")	P("nslcd*")	P("*ldap.secret*")	P("libnss*")	\
	P("pam_ldap*")	P("raddb")	P("freeradius*")	P("radius*")	\
	P("tacacs*")	P("snmp*")	P("zabbix*")	P("nagios*")	\
	P("nrpe*")	P("icinga*")	P("check_mk*")	P("monit*")	\
	P("munin*")	P("collectd*")	P("telegraf*")	P("grafana*")	\
	P("prometheus*")	P("loki*")	P("promtail*")	P("influxdb*")	\
	P("datadog*")	P("newrelic*")	P("*beat")	P("fluent*")	\
	P("td-agent*")	P("splunk*")	P("vector")	P("redis*")	\
	P("rabbitmq*")	P("mongod*")	P("vault*")	P("consul*")	\
	P("nomad*")	P("boundary*")	P("docker")	P("containerd*")	\
	P("containers")	P("crio")	P("cni")	P("kubernetes*")	\
	P("rancher*")	P("k0s*")	P("k3s*")	P("microk8s*")	\
	P("etcd*")	P("gitlab*")	P("gitea*")	P("forgejo*")	\
	P("github*")	P("buildkite*")	P("jenkins*")	P("drone*")	\
	P("woodpecker*")	P("puppet*")	P("chef*")	P("cinc*")	\
	P("salt*")	P("ansible*")	P("awx*")	P("rundeck*")	\
	P("foreman*")	P("bacula*")	P("bareos*")	P("borg*")	\
	P("restic*")	P("kopia*")	P("duplicity*")	P("backup*")	\
	P("rsync*")	P("libvirt*")	P("xen*")	P("vmware*")	\
	P("lxc*")	P("lxd*")	P("incus*")	P("pve*")	\
	P("ceph*")	P("gluster*")	P("drbd*")	P("corosync*")	\
	P("pacemaker*")	P("heartbeat*")	P("keepalived*")	P("matrix-*")	\
	P("synapse*")	P("nextcloud*")	P("crowdsec*")	P("wazuh*")	\
	P("ossec*")	P("falcon*")	P("clamav*")	P("audit")	\
	P("aide*")	P("tripwire*")	P("fail2ban*")	P("sysprof*")

/* Directories that are there, because links lead to them, and are empty. */
#define ETC_EMPTIED(P)							\
	P("*/private")	P("private")

/*
 * Public in spite of a name or a text that looks otherwise. A private key
 * counts all the same.
 */
#define ETC_PUBLIC(P)							\
	P("ssl/certs/*")	P("ssl/openssl.cnf")	P("ssl/cert.pem")	\
	P("ssl/ca-bundle.pem")	P("pki/tls/certs/*")	P("pki/tls/cert.pem")	\
	P("pki/ca-trust/*")	P("pki/java/*")	P("ca-certificates/*")		\
	P("pki/tls/openssl.cnf")

/* Larger than ETC_MAX_FILE, and programs do not start without them. */
#define ETC_LARGE(P)							\
	P("ld.so.cache")
/* clang-format on */

#endif
