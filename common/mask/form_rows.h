/* SPDX-License-Identifier: ISC */
/*
 * The public forms of keys, as their providers describe them and as public
 * lists of such forms agree on them. A form is literal text and parts: "%" with
 * a class, then how many characters the part has: "36" exactly, "20+" at least,
 * "8..10" between. A part is the whole run of its class. "!" at the beginning:
 * a digit must be among the first 64 characters after the literal, because the
 * form alone is that of ordinary words, too. Text that begins with a part is
 * looked for at the beginning of every word.
 *
 * classes: d digits, h hexadecimal, u capitals and digits, l small letters and
 * digits, n letters and digits, w and _, b and - _, k and - _ . = ~,
 * 6 base64.
 */
#ifndef MASK_FORM_ROWS_H
#define MASK_FORM_ROWS_H

/* clang-format off */
#define MASK_FORMS(F)							\
	F("1password secret key", "A3-%u6-%u5+")			\
	F("1password service account", "ops_eyJ%660+")			\
	F("adafruit io", "aio_%n28")					\
	F("adobe client secret", "p8e-%n32")				\
	F("age secret key", "AGE-SECRET-KEY-%u50+")			\
	F("age plugin identity", "AGE-PLUGIN-%b30+")			\
	F("airtable", "pat%n14.%h64")					\
	F("aiven", "AVNS_%b16+")					\
	F("alibaba access key", "LTAI%n12..20")				\
	F("anthropic", "sk-ant-%b20+")					\
	F("anyscale", "esecret_%n20+")					\
	F("apify", "apify_api_%n30+")					\
	F("artifactory key", "AKCp%n60+")				\
	F("artifactory reference", "cmVmd%n59")				\
	F("asana", "1/%d10+:%h32")					\
	F("asana second", "2/%d10+/%d10+:%h32")				\
	F("atlassian", "ATATT3%k50+")					\
	F("atlassian app", "ATCTT3%k50+")				\
	F("atlassian bitbucket", "ATBB%n24+")				\
	F("aws access key", "AKIA%u16")					\
	F("aws session key", "ASIA%u16")				\
	F("aws bearer key", "ABIA%u16")					\
	F("aws context key", "ACCA%u16")				\
	F("aws legacy key", "A3T%u17")					\
	F("aws bedrock", "ABSK%660+")					\
	F("aws bedrock short", "bedrock-api-key-%640+")			\
	F("authress", "sc_%l5..30.%l4..6.acc-%b10..32.%630+")		\
	F("authress account", "sc_%l5..30.%l4..6.acc_%b10..32.%630+")	\
	F("axiom", "xaat-%b36")						\
	F("axiom personal", "xapt-%b36")				\
	F("beamer", "!b_%b43+")						\
	F("base64 of a private key", "LS0tLS1CRUdJTiBQUklWQVRFIEtFWS%620+")	\
	F("base64 of an RSA private key", "LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVkt%620+")	\
	F("base64 of an EC private key", "LS0tLS1CRUdJTiBFQyBQUklWQVRFIEtFWS%620+")	\
	F("base64 of an OpenSSH private key", "LS0tLS1CRUdJTiBPUEVOU1NIIFBSSVZBVEUgS0VZ%620+")	\
	F("base64 of an encrypted private key", "LS0tLS1CRUdJTiBFTkNSWVBURUQgUFJJVkFURSBLRVkt%620+")	\
	F("base64 of a PGP private key", "LS0tLS1CRUdJTiBQR1AgUFJJVkFURSBLRVkg%620+")	\
	F("bearer header", "!Bearer %k16+")				\
	F("bearer header small", "!bearer %k16+")			\
	F("blockfrost mainnet", "mainnet%n32")				\
	F("braintree", "access_token$production$%l16$%h32")		\
	F("braintree sandbox", "access_token$sandbox$%l16$%h32")	\
	F("browserbase", "bb_live_%b20+")				\
	F("brevo", "xkeysib-%h64-%n16")					\
	F("brevo smtp", "xsmtpsib-%h64-%n16")				\
	F("buildkite", "bkua_%h40")					\
	F("buildkite agent", "bkat_%n30+")				\
	F("canva", "cnvca%b30+")					\
	F("cerebras", "csk-%n40+")					\
	F("checkout secret", "sk_sbox_%k20+")				\
	F("circleci personal", "CCIPAT_%b40+")				\
	F("circleci project", "CCIPRJ_%b40+")				\
	F("clickhouse cloud", "4b1d%n38")				\
	F("clojars", "CLOJARS_%n60")					\
	F("cloudflare origin ca", "v1.0-%h24-%h100+")			\
	F("cloudflare user", "cfut_%b40+")				\
	F("cloudflare account", "cfat_%b40+")				\
	F("cloudinary address", "cloudinary://%d10+:%b20+")		\
	F("coinbase cloud", "organizations/%b36/apiKeys/%b36")		\
	F("confluent", "cflt%660")					\
	F("contentful management", "CFPAT-%b40+")			\
	F("context7", "ctx7sk-%b20+")					\
	F("crates.io", "cio%n32")					\
	F("cursor", "crsr_%h64")					\
	F("databricks", "dapi%h32")					\
	F("databricks oauth", "dose%h32")				\
	F("daytona", "dtn_%h64")					\
	F("dbt cloud", "dbtc_%b40+")					\
	F("dbt cloud user", "dbtu_%b40+")				\
	F("defined networking", "dnkey-%b60+")				\
	F("deno", "ddp_%n36")						\
	F("deno organization", "ddo_%n36")				\
	F("digitalocean personal", "dop_v1_%h64")			\
	F("digitalocean oauth", "doo_v1_%h64")				\
	F("digitalocean refresh", "dor_v1_%h64")			\
	F("discord bot M", "!M%b23..27.%b6.%b27..45")			\
	F("discord bot N", "!N%b23..27.%b6.%b27..45")			\
	F("discord bot O", "!O%b23..27.%b6.%b27..45")			\
	F("discord webhook", "discord.com/api/webhooks/%d15+/%b50+")	\
	F("discord old webhook", "discordapp.com/api/webhooks/%d15+/%b50+") \
	F("docker hub personal", "dckr_pat_%b27+")			\
	F("docker hub organization", "dckr_oat_%b27+")			\
	F("doppler personal", "dp.pt.%n40+")				\
	F("doppler service", "dp.st.%k40+")				\
	F("doppler cli", "dp.ct.%n40+")					\
	F("doppler scim", "dp.scim.%n40+")				\
	F("doppler audit", "dp.audit.%n40+")				\
	F("doppler account", "dp.sa.%n40+")				\
	F("dropbox short", "sl.%b100+")					\
	F("duffel live", "duffel_live_%k40+")				\
	F("duffel test", "duffel_test_%k40+")				\
	F("dynatrace", "dt0c01.%n24.%n64")				\
	F("dynatrace platform", "dt0s16.%n8.%n64")			\
	F("e2b", "e2b_%h40")						\
	F("easypost", "EZAK%n54")					\
	F("easypost test", "EZTK%n54")					\
	F("elevenlabs", "sk_%h48")					\
	F("endor labs", "endr+%b16")					\
	F("facebook page", "EAAM%n80+")					\
	F("facebook app", "EAAC%n80+")					\
	F("facebook user", "EAAG%n80+")					\
	F("facebook business", "EAAB%n80+")				\
	F("facebook access", "%d15..16|%b27..40")			\
	F("figma", "figd_%b40+")					\
	F("figma oauth", "figo_%b40+")					\
	F("firecrawl", "fc-%h32")					\
	F("firebase messaging", "AAAA%b7:%b100+")			\
	F("fireworks", "fw_%n22+")					\
	F("flutterwave secret", "FLWSECK-%n32-X")			\
	F("flutterwave test", "FLWSECK_TEST-%n12+")			\
	F("flutterwave public", "FLWPUBK_TEST-%n32-X")			\
	F("fly.io", "fo1_%b43")						\
	F("fly.io machine 2", "fm2_%680+")				\
	F("fly.io machine 1a", "fm1a_%680+")				\
	F("fly.io machine 1r", "fm1r_%680+")				\
	F("frame.io", "fio-u-%k60+")					\
	F("gcp api", "AIza%b35")					\
	F("gcp express", "AQ.%b35+")					\
	F("gcp oauth access", "ya29.%k20+")				\
	F("gcp oauth secret", "GOCSPX-%b20+")				\
	F("gcp refresh", "1//0%b40+")					\
	F("gcp hmac", "GOOG1E%u50+")					\
	F("gcp hmac short", "GOOG%u20")					\
	F("github personal", "ghp_%n36+")				\
	F("github fine-grained", "github_pat_%w22+")			\
	F("github oauth", "gho_%n36+")					\
	F("github user", "ghu_%n36+")					\
	F("github app", "ghs_%k36+")					\
	F("github refresh", "ghr_%n36+")				\
	F("gitlab personal", "glpat-%k20+")				\
	F("gitlab job", "glcbt-%b20+")					\
	F("gitlab deploy", "gldt-%b20+")				\
	F("gitlab feature flag", "glffct-%b20+")			\
	F("gitlab feed", "glft-%b20+")					\
	F("gitlab mail", "glimt-%b20+")					\
	F("gitlab agent", "glagent-%b40+")				\
	F("gitlab oauth", "gloas-%b40+")				\
	F("gitlab trigger", "glptt-%h40")				\
	F("gitlab runner", "glrt-%k20+")				\
	F("gitlab runner of a group", "glrtr-%b20+")			\
	F("gitlab runner registration", "GR1348941%b20+")		\
	F("gitlab scim", "glsoat-%b20+")				\
	F("gitlab workspace", "glwt-%b20+")				\
	F("grafana key", "eyJrIjoi%660+")				\
	F("grafana cloud", "glc_%632+")					\
	F("grafana service", "glsa_%n32_%h8")				\
	F("groq", "gsk_%n40+")						\
	F("harness personal", "pat.%b22.%n24.%n20")			\
	F("harness service", "sat.%b22.%n24.%n20")			\
	F("heroku", "HRKU-%b36+")					\
	F("honeycomb ingest", "hcaik_%l58+")				\
	F("honeycomb management", "hcamk_%l58+")			\
	F("hubspot", "pat-na1-%b36")					\
	F("hubspot europe", "pat-eu1-%b36")				\
	F("hugging face", "hf_%n30+")					\
	F("hugging face organization", "api_org_%n30+")			\
	F("infracost", "ico-%n32")					\
	F("intercom", "dG9rO%630+")					\
	F("intra42", "s-s4t2ud-%h64")					\
	F("intra42 application", "s-s4t2af-%h64")			\
	F("jina", "jina_%b40+")						\
	F("json web encryption", "eyJ%b14+..%b10+.%b10+.%b10+")		\
	F("json web token", "eyJ%b14+.%b10+.%k0+")			\
	F("json web token in base64", "ZXlK%660+")			\
	F("langfuse", "sk-lf-%b30+")					\
	F("langsmith", "lsv2_pt_%h32_%h10")				\
	F("langsmith service", "lsv2_sk_%h32_%h10")			\
	F("launchdarkly api", "api-%h8-%h4-%h4-%h4-%h12")		\
	F("launchdarkly sdk", "sdk-%h8-%h4-%h4-%h4-%h12")		\
	F("launchdarkly mobile", "mob-%h8-%h4-%h4-%h4-%h12")		\
	F("linear", "lin_api_%n32+")					\
	F("linear oauth", "lin_oauth_%n32+")				\
	F("linear webhook", "lin_wh_%n20+")				\
	F("linkedin", "WPL_AP%d1+.%k20+")				\
	F("lob live", "live_%h35")					\
	F("lob test", "test_%h35")					\
	F("mailchimp", "%h32-us%d1..2")					\
	F("mailgun key", "key-%h32")					\
	F("mailgun signing", "%h32-%h8-%h8")				\
	F("mailgun public", "pubkey-%h32")				\
	F("mailersend", "mlsn.%h60+")					\
	F("mapbox secret", "sk.eyJ%b40+.%b20+")				\
	F("mapbox public", "pk.eyJ%b40+.%b20+")				\
	F("maxmind", "%n6_%n29_mmk")					\
	F("rfc 8959", "secret-token:%b20+")				\
	F("microsoft entra secret", "%n5~%k31+")			\
	F("midtrans", "SB-Mid-server-%b20+")				\
	F("mux", "mux_sk_%n40+")					\
	F("netlify", "nfp_%n36+")					\
	F("neon", "napi_%l40+")						\
	F("new relic user", "NRAK-%u27")				\
	F("new relic license", "%l36NRAL")				\
	F("new relic insights insert", "NRII-%b32")			\
	F("new relic insights query", "NRIQ-%b32")			\
	F("new relic rest", "NRRA-%h42")				\
	F("new relic browser", "NRJS-%h19")				\
	F("new relic synthetics", "NRSP-%b20+")				\
	F("notion", "ntn_%n40+")					\
	F("notion old", "secret_%n43")					\
	F("npm", "npm_%n36+")						\
	F("nuget", "oy2%l43")						\
	F("nvidia", "nvapi-%b40+")					\
	F("octopus deploy", "API-%u26+")				\
	F("okta", "00%b40")						\
	F("onfido", "api_live.%b10+.%b20+")				\
	F("openai", "sk-%n20+")						\
	F("openai project", "sk-proj-%b20+")				\
	F("openai service account", "sk-svcacct-%b20+")			\
	F("openai admin", "sk-admin-%b20+")				\
	F("openai session", "sess-%n40")				\
	F("openai ephemeral", "ek_%h32")				\
	F("openrouter", "sk-or-%b30+")					\
	F("other sk- keys", "!sk-%b24+")				\
	F("openshift", "sha256~%b43")					\
	F("openvsx", "ovsxp_%b30+")					\
	F("clickup", "pk_%d5+_%u32")					\
	F("datadog application", "ddapp_%n34")				\
	F("snyk", "snyk_uat.%n8.%b40+")					\
	F("tencent", "!AKID%n32")					\
	F("instagram", "IGQV%b80+")					\
	F("baidu", "bce-v3/ALTAK-%n21/%h40")				\
	F("salesforce session", "00D%n12!%k60+")			\
	F("modal key", "!ak-%n22")					\
	F("modal secret", "!as-%n22")					\
	F("zapier hook", "hooks.zapier.com/hooks/catch/%d4+/%n5+")	\
	F("teams hook", "/IncomingWebhook/%h32")			\
	F("outlook hook", "outlook.office.com/webhook/%h8-%h4-%h4-%h4-%h12")	\
	F("apikey header", "!ApiKey %k20+")				\
	F("password hash md5", "$1$%k4..8$%k20+")			\
	F("password hash apache", "$apr1$%k4..8$%k20+")			\
	F("password hash sha256", "$5$%k8..16$%k20+")			\
	F("wallet key", "xprv%n100+")					\
	F("wallet key of segwit", "zprv%n100+")				\
	F("wallet key of tests", "tprv%n100+")				\
	F("wallet import 5H", "5H%n49")					\
	F("wallet import 5J", "5J%n49")					\
	F("wallet import 5K", "5K%n49")					\
	F("wallet import K", "!K%n51")					\
	F("wallet import L", "!L%n51")					\
	F("password hash bcrypt 2a", "$2a$%d2$%k50+")			\
	F("password hash bcrypt 2b", "$2b$%d2$%k50+")			\
	F("password hash bcrypt 2y", "$2y$%d2$%k50+")			\
	F("password hash sha512", "$6$%k8..16$%k20+")			\
	F("password hash yescrypt", "$y$%k2+$%k8+$%k20+")		\
	F("paypal access", "A21AA%b80+")				\
	F("perplexity", "pplx-%n40+")					\
	F("pinecone", "pcsk_%w40+")					\
	F("planetscale token", "pscale_tkn_%k30+")			\
	F("planetscale oauth", "pscale_oauth_%k30+")			\
	F("planetscale password", "pscale_pw_%k30+")			\
	F("plaid access", "access-production-%h8-%h4-%h4-%h4-%h12")	\
	F("plaid development", "access-development-%h8-%h4-%h4-%h4-%h12")	\
	F("plaid sandbox", "access-sandbox-%h8-%h4-%h4-%h4-%h12")	\
	F("polar", "polar_oat_%n30+")					\
	F("postman", "PMAK-%h24-%h34")					\
	F("postman collection", "PMAT-%n26")				\
	F("posthog personal", "phx_%n40+")				\
	F("posthog project", "phc_%n40+")				\
	F("prefect", "pnu_%n36")					\
	F("prefect service", "pnb_%n36")				\
	F("pulumi", "pul-%h40")						\
	F("pypi", "pypi-%b50+")						\
	F("razorpay live", "rzp_live_%n14")				\
	F("razorpay test", "rzp_test_%n14")				\
	F("readme", "rdme_%l60+")					\
	F("render", "rnd_%n28+")					\
	F("replicate", "r8_%n37")					\
	F("resend", "re_%n8_%n20+")					\
	F("rubygems", "rubygems_%h48")					\
	F("runpod", "rpa_%u40+")					\
	F("scalingo", "tk-us-%b48")					\
	F("sendgrid", "SG.%b20+.%b40+")					\
	F("sentry organization", "sntrys_%620+")			\
	F("sentry user", "sntryu_%h64")					\
	F("sentry application", "sntrya_%h64")				\
	F("settlemint application", "sm_aat_%n16")			\
	F("settlemint personal", "sm_pat_%n16")				\
	F("settlemint service", "sm_sat_%n16")				\
	F("shippo live", "shippo_live_%h40")				\
	F("shippo test", "shippo_test_%h40")				\
	F("shopify access", "shpat_%h32")				\
	F("shopify custom", "shpca_%h32")				\
	F("shopify private", "shppa_%h32")				\
	F("shopify secret", "shpss_%h32")				\
	F("shopify user", "shpua_%h32")					\
	F("sidekiq gems", "BUNDLE_GEMS__CONTRIBSYS__COM=%b8:%b8")	\
	F("sidekiq", "BUNDLE_ENTERPRISE__CONTRIBSYS__COM=%b8:%b8")	\
	F("slack bot", "xoxb-%b20+")					\
	F("slack user", "xoxp-%b20+")					\
	F("slack app", "xapp-%d1-%n5+-%d5+-%n20+")			\
	F("slack configuration", "xoxe.xoxb-%b20+")			\
	F("slack configuration user", "xoxe.xoxp-%b20+")		\
	F("slack refresh", "xoxe-%b20+")				\
	F("slack workspace", "xoxa-%b8+")				\
	F("slack legacy", "xoxr-%b8+")					\
	F("slack session", "xoxs-%b20+")				\
	F("slack old", "xoxo-%b20+")					\
	F("slack cookie", "xoxd-%b20+")					\
	F("slack client", "xoxc-%b20+")					\
	F("slack webhook", "hooks.slack.com/services/%630+")		\
	F("slack workflow", "hooks.slack.com/workflows/%630+")		\
	F("slack trigger", "hooks.slack.com/triggers/%630+")		\
	F("sonarqube global", "sqa_%h40")				\
	F("sonarqube project", "sqp_%h40")				\
	F("sonarqube user", "squ_%h40")					\
	F("sourcegraph", "sgp_%h16_%h40")				\
	F("sourcegraph local", "sgp_local_%h40")			\
	F("sourcegraph amp", "sgamp_user_%w30+")			\
	F("square access", "sq0atp-%b22")				\
	F("square secret", "sq0csp-%b43")				\
	F("square application", "EAAA%b56+")				\
	F("ssh private key body", "b3BlbnNzaC1rZXktdj%640+")		\
	F("stackhawk", "hawk.%b20.%b20")				\
	F("stytch live", "secret-live-%b30+")				\
	F("stytch test", "secret-test-%b30+")				\
	F("stripe live", "sk_live_%n10+")				\
	F("stripe test", "sk_test_%n10+")				\
	F("stripe production", "sk_prod_%n10+")				\
	F("stripe restricted", "rk_live_%n10+")				\
	F("stripe restricted test", "rk_test_%n10+")			\
	F("stripe webhook", "whsec_%624+")				\
	F("supabase", "sbp_%h40")					\
	F("supabase secret", "sb_secret_%b20+")				\
	F("tailscale", "tskey-%b20+")					\
	F("tavily", "tvly-%b20+")					\
	F("teams webhook", "webhook.office.com/webhookb2/%k36@%k36/IncomingWebhook/%h32/%k36") \
	F("office webhook", "outlook.office.com/webhook/%k36@%k36/IncomingWebhook/%h32/%k36")	\
	F("telegram bot", "%d8..10:AA%b32+")				\
	F("telegram bot in an address", "bot%d8..10:AA%b32+")		\
	F("terraform cloud", "%n14.atlasv1.%k60+")			\
	F("together", "tgp_v1_%b40+")					\
	F("trello", "ATTA%h60+")					\
	F("twilio key", "SK%h32")					\
	F("twitter bearer", "AAAAAAAAAAAAAAAAAAAAA%b30+")		\
	F("typeform", "tfp_%k40+")					\
	F("vault service", "hvs.%b24+")					\
	F("vault batch", "hvb.%b24+")					\
	F("vault recovery", "hvr.%b24+")				\
	F("vault old", "!s.%n24")					\
	F("vercel", "vercel_%n24+")					\
	F("vercel blob", "vercel_blob_rw_%w30+")			\
	F("vercel personal", "vcp_%n24+")				\
	F("voyage", "!pa-%b40+")					\
	F("weights and biases", "wandb_v1_%b40+")			\
	F("xai", "xai-%n60+")						\
	F("xata", "xau_%n30+")						\
	F("yandex iam", "t1.%b40+.%b80+")				\
	F("yandex key", "AQVN%b35+")					\
	F("yandex static", "YC%b38")					\
	F("zapier webhook", "hooks.zapier.com/hooks/catch/%d1+/%l6+")	\
	F("zuplo", "zpka_%h32_%h8")
/* clang-format on */

#endif
