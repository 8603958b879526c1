# SPDX-License-Identifier: ISC
"""The parts of the suite that examine a shipped session, divided into those
for an ordinary user and those for root."""
import os
import pwd

import harness
import instance
import keys
import live
import lying
import signed
import swayed
import rig


def fallback_libexec(work, args):
    d = os.path.join(work, "libexec-fallback")
    real = os.path.join(args.prefix, "libexec", "ironcurtain")
    os.makedirs(d)
    os.chmod(work, 0o755)
    for name in os.listdir(real):
        os.symlink(os.path.join(args.build, "fallback_" + name)
                   if name in ("keyd", "followd", "tunneld")
                   else os.path.join(real, name),
                   os.path.join(d, name))
    return d


def test_refused(tap, args, work):
    """icsupervisor starts no session with a worker that is not confined, or
    with a program that is no worker."""
    table = rig.Table(args.build)
    lone = rig.Confined(os.path.join(work, "refused"), args.build, args.prefix,
                        table, kind="bare")
    quiet = {"n": rig.QUIET, "given": 0}
    for role in table.roles:
        r = lone.run(role, quiet)
        tap.ok("exit 71" in r.detail and
               f"{role}" in r.detail.split("is not confined as it must be")[0]
               and "is not confined as it must be" in r.detail,
               f"refused: {role} without confinement", r.detail)
    path = os.path.join(lone.libexec("auditd"), "auditd")
    for name, make in (("is not there", lambda: None),
                       ("is a directory", lambda: os.mkdir(path)),
                       ("may not be run", lambda: os.mknod(path)),
                       ("is no worker", lambda: os.symlink("/bin/true", path))):
        remove(path)
        make()
        r = lone.run("auditd", quiet, order=False)
        tap.ok("exit 71" in r.detail and "auditd" in r.detail,
               f"refused: auditd that {name}", r.detail)


def remove(path):
    if os.path.isdir(path) and not os.path.islink(path):
        os.rmdir(path)
    elif os.path.lexists(path):
        os.unlink(path)


def user_parts(tap, args, work, after_root):
    with tap.case("refused"):
        test_refused(tap, args, work)
    provider = harness.Provider(work)
    with tap.case("live, as a user"), \
            live.Live(os.path.join(work, "u"), args, provider) as session:
        tap.equal(session.ask(), [200, 200], "user: a session at work")
        live.test_status(tap, session, "user")
        live.test_outsider(tap, session, "user")
    with tap.case("live, with an editor"), \
            live.Live(os.path.join(work, "ue"), args, provider,
                      editor=True) as session:
        live.test_status(tap, session, "editor")
    with tap.case("instance, as a user"):
        instance.test_instance(tap, args, os.path.join(work, "i"), "user")
    with tap.case("signed answers"):
        signed.test_signed(tap, args, os.path.join(work, "sd"))
    with tap.case("a lying mitmd"):
        lying.test_lying(tap, args, os.path.join(work, "l"), provider)
        lying.test_service(tap, args, os.path.join(work, "ls"))
        lying.test_hosts(tap, args, os.path.join(work, "lh"))
        lying.test_forge(tap, args, os.path.join(work, "lf"))
        lying.test_follow(tap, args, os.path.join(work, "lo"))
        swayed.test_swayed(tap, args, os.path.join(work, "sw"), provider)
    provider.end()
    for name in () if after_root else (
            "descriptors, environment and namespaces of live workers",
            "Landlock in live workers",
            "search of all memory for the credential"):
        tap.skip(name, "needs root: run.py --root")


def root_parts(tap, args, work):
    os.chmod(work, 0o755)
    provider = harness.Provider(work)
    user = "ictest"
    try:
        pwd.getpwnam(user)
    except KeyError:
        user = "nobody"
    with tap.case("live, of a user, seen by root"), \
            live.Live(os.path.join(work, "u"), args, provider, user) as session:
        live.test_status(tap, session, "user's session")
        live.test_inside(tap, session, "user's session", 1, 3)
        live.test_landlock(tap, session, "user's session")
        live.test_outsider(tap, session, "user's session")
        keys.test_key(tap, session, provider, "user's session")
    with tap.case("instance, of a user, seen by root"):
        instance.test_instance(tap, args, os.path.join(work, "i"),
                               "user's session", user)
    with tap.case("live, of root"), \
            live.Live(os.path.join(work, "r"), args, provider) as session:
        live.test_status(tap, session, "root's session")
        live.test_inside(tap, session, "root's session", 1, 3)
        live.test_landlock(tap, session, "root's session")
        keys.test_key(tap, session, provider, "root's session")
    with tap.case("login, seen by root"):
        keys.test_login(tap, os.path.join(work, "o"), "login")
        keys.test_database(tap, os.path.join(work, "d"), "database")
        keys.test_database(tap, os.path.join(work, "t"), "database over TLS", True)
        keys.test_remote(tap, os.path.join(work, "far"), "remote server")
    with tap.case("no memfd_secret"), \
            live.Live(os.path.join(work, "f"), args, provider,
                 libexecdir=fallback_libexec(work, args),
                 servers=False) as session:
        keys.test_fallback(tap, session, provider, "fallback")
    provider.end()
