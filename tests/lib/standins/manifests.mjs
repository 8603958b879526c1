// SPDX-License-Identifier: ISC
// usage: node manifests.mjs NODE_MODULES FILE...
//
// Checks the manifests of Kubernetes in YAML files. Values are checked by the
// published schemas (kubernetes-models); these let unknown members pass, so that
// each member's name is looked up in the table of the official client. Prints one
// line for each mistake. Of an object that Kubernetes does not know itself, only
// its pod template and its network policy are checked.
import {readFileSync} from "node:fs";
import {createRequire} from "node:module";
import {pathToFileURL} from "node:url";

const [base, ...files] = process.argv.slice(2);
const require = createRequire(base + "/");
const yaml = require("js-yaml");
const models = await import(pathToFileURL(
    base + "/@kubernetes/client-node/dist/gen/models/all.js"));

const KINDS = {
    Pod: ["V1Pod", "IoK8sApiCoreV1Pod"],
    Job: ["V1Job", "IoK8sApiBatchV1Job"],
    NetworkPolicy: ["V1NetworkPolicy", "IoK8sApiNetworkingV1NetworkPolicy"],
    ConfigMap: ["V1ConfigMap", "IoK8sApiCoreV1ConfigMap"],
    Secret: ["V1Secret", "IoK8sApiCoreV1Secret"],
    PersistentVolumeClaim: ["V1PersistentVolumeClaim",
        "IoK8sApiCoreV1PersistentVolumeClaim"],
    ServiceAccount: ["V1ServiceAccount", "IoK8sApiCoreV1ServiceAccount"],
};

let bad = 0;

function mistake(file, where, why) {
    bad++;
    console.log(`${file}: ${where}: ${why}`);
}

// Look the names of members up, by the type that the client gives each.
function names(file, where, type, value) {
    const list = /^Array<(.*)>$/.exec(type);

    if (list !== null && Array.isArray(value)) {
        value.forEach((v, i) => names(file, `${where}[${i}]`, list[1], v));
        return;
    }
    const of = models[type]?.getAttributeTypeMap?.();
    if (of === undefined || value === null || typeof value !== "object")
        return;
    for (const [key, v] of Object.entries(value)) {
        const row = of.find((a) => a.baseName === key);

        if (row === undefined)
            mistake(file, `${where}.${key}`, "no such member");
        else
            names(file, `${where}.${key}`, row.type, v);
    }
}

function values(file, schema, value) {
    const {validate} = require(
        `${base}/kubernetes-models/_schemas/${schema}.js`);

    if (!validate(value))
        for (const e of validate.errors)
            mistake(file, e.instancePath || "/", e.message ?? e.keyword);
}

function check(file, o) {
    const known = KINDS[o?.kind];

    if (known !== undefined) {
        names(file, o.kind, known[0], o);
        values(file, known[1], o);
        return;
    }
    const pod = o?.spec?.podTemplate, policy = o?.spec?.networkPolicy;
    if (pod === undefined) {
        mistake(file, o?.kind, "a kind that is not known");
        return;
    }
    names(file, `${o.kind}.spec.podTemplate`, "V1PodTemplateSpec", pod);
    values(file, "IoK8sApiCoreV1PodTemplateSpec", pod);
    if (policy !== undefined) {
        names(file, `${o.kind}.spec.networkPolicy`, "V1NetworkPolicySpec",
            policy);
        // The controller says for which pods it is.
        values(file, "IoK8sApiNetworkingV1NetworkPolicySpec",
            {podSelector: {}, ...policy});
    }
}

for (const file of files)
    for (const o of yaml.loadAll(readFileSync(file, "utf8")))
        check(file, o);
process.exit(bad === 0 ? 0 : 1);
