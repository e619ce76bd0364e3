import { failure } from "../../core/ending.ts"
import type { CommandSpec } from "./process-access.ts"
import { isSecretVariable } from "../../lib/secret-names.ts"

export type CommandVariables = Readonly<Record<string, string>>

/** The variables a command gets from us, to find programs and to use the right language. It gets no others. */
const passed = new Set([
  "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TERM", "COLORTERM", "NO_COLOR", "TZ", "TMPDIR", "COLUMNS", "LINES",
  "CI", "HOSTNAME", "VIRTUAL_ENV", "CONDA_PREFIX", "JAVA_HOME", "GOPATH", "GOROOT", "GOBIN", "CARGO_HOME", "RUSTUP_HOME",
  "NVM_DIR", "PYENV_ROOT", "RBENV_ROOT", "VOLTA_HOME", "PNPM_HOME", "BUN_INSTALL", "DENO_DIR", "SDKMAN_DIR", "ANDROID_HOME", "DOTNET_ROOT", "XDG_CACHE_HOME",
]) // prettier-ignore

/** Passed only with the network: proxies and certificates. */
const forNetwork = new Set([
  "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy",
  "SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE",
]) // prettier-ignore

/** Values that are secret under any name: keys of known providers, and addresses with a password. */
const secretValue =
  /(?:^|[^A-Za-z0-9])(?:gh[pousr]_|github_pat_|glpat-|sk-|xox[abeoprs]-|AKIA|ASIA|AIza|npm_|hf_|qm[ap]_|eyJ)[\w.-]{16,}|-----BEGIN [A-Z ]*PRIVATE KEY|:\/\/[^/\s:@]*:[^/\s@]+@/

/**
 * The variables a command starts with: a few of ours without anything that looks like a secret, those of the call, and
 * `QM_INSIDE`, which says that it runs inside a tool.
 */
export function commandEnvironment(
  ours: Readonly<Record<string, string | undefined>>,
  ofCall: CommandVariables = {},
  { network = false, unapproved = false }: Pick<CommandSpec, "network" | "unapproved"> = {},
): CommandVariables {
  checkVariables(ofCall)
  const passedOn = Object.entries(ours).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined &&
      (passed.has(entry[0]) || entry[0].startsWith("LC_") || (network && forNetwork.has(entry[0]))) &&
      !isSecretVariable(entry[0]) &&
      !secretValue.test(entry[1]),
  )
  const all = { PATH: "/usr/local/bin:/usr/bin:/bin", ...Object.fromEntries(passedOn), ...ofCall, QM_INSIDE: "1" }
  return unapproved ? { ...all, ...harmlessGit(ofCall) } : all
}

/** Turns off what a repository's configuration could make git run by itself. */
const harmlessSettings = [
  ["core.fsmonitor", "false"],
  ["core.hooksPath", "/dev/null"],
] as const

/** Settings that override those of any repository, added after those of the call. */
function harmlessGit({ GIT_CONFIG_COUNT: count = "0" }: CommandVariables): CommandVariables {
  const before = /^\d{1,3}$/.test(count) ? Number(count) : 0
  const settings = harmlessSettings.flatMap(([key, value], at) => [
    [`GIT_CONFIG_KEY_${before + at}`, key],
    [`GIT_CONFIG_VALUE_${before + at}`, value],
  ])
  return {
    ...(Object.fromEntries(settings) as CommandVariables),
    GIT_CONFIG_COUNT: String(before + harmlessSettings.length),
    GIT_NO_LAZY_FETCH: "1",
  }
}

function checkVariables(variables: CommandVariables): void {
  for (const [name, value] of Object.entries(variables)) {
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) {
      throw failure(`'${name}' is not a valid variable name. Use letters, digits and _.`, {
        toolCode: "bad_environment",
      })
    }
    if (name.startsWith("QM_") || name.startsWith("QUARTERMASTER_")) {
      throw failure(`${name} belongs to Quartermaster and cannot be given to a command. Leave it out.`, {
        toolCode: "bad_environment",
      })
    }
    if (value.includes("\0")) {
      throw failure(`The value of ${name} contains a NUL character. Leave it out.`, { toolCode: "bad_environment" })
    }
  }
}
