# SPDX-License-Identifier: ISC
"""Test certificates made with the openssl program: a CA, made once per
directory (ca.pem, ca.key), and leaves that it signs."""
import os
import subprocess
import time


def make_certificates(directory, names, stem="leaf"):
    """Make ca.pem and ca.key in the directory, once, and a leaf for the names.
    """
    def openssl(*args):
        subprocess.run(["openssl", *args], cwd=directory, check=True,
                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                       stderr=subprocess.PIPE)

    os.makedirs(directory, exist_ok=True)
    conf = os.path.join(directory, stem + ".cnf")
    alt = ",".join("DNS:" + n for n in names)
    with open(conf, "w", encoding="ascii") as f:
        f.write("[req]\ndistinguished_name=dn\nprompt=no\n[dn]\n"
                f"CN=Stand-in {stem}\n"
                "[ca]\nbasicConstraints=critical,CA:TRUE\n"
                "keyUsage=critical,keyCertSign,cRLSign\n"
                "subjectKeyIdentifier=hash\n"
                "[leaf]\nbasicConstraints=critical,CA:FALSE\n"
                f"subjectAltName={alt},IP:127.0.0.1\n"
                "extendedKeyUsage=serverAuth\n"
                "authorityKeyIdentifier=keyid\n")
    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
           "-nodes", "-config", os.path.basename(conf)]
    if not os.path.exists(os.path.join(directory, "ca.pem")):
        openssl("req", "-x509", *key, "-keyout", "ca.key", "-out", "ca.pem",
                "-days", "30", "-extensions", "ca")
    openssl("req", *key, "-keyout", stem + ".key", "-out", stem + ".csr")
    openssl("x509", "-req", "-in", stem + ".csr", "-CA", "ca.pem", "-CAkey",
            "ca.key", "-set_serial", str(time.time_ns()), "-days", "30",
            "-extfile", os.path.basename(conf), "-extensions", "leaf",
            "-out", stem + ".pem")
