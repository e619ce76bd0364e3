import { failure } from "../../model/ending.ts"
import { looksSecret } from "../../model/secret-names.ts"

export type Environment = Readonly<Record<string, string>>

/** What a command needs of ours to find programs and to speak the right language. All else stays with us. */
const passed = new Set([
  "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TERM", "COLORTERM", "NO_COLOR", "TZ", "TMPDIR", "COLUMNS", "LINES",
  "CI", "HOSTNAME", "VIRTUAL_ENV", "CONDA_PREFIX", "JAVA_HOME", "GOPATH", "GOROOT", "GOBIN", "CARGO_HOME", "RUSTUP_HOME",
  "NVM_DIR", "PYENV_ROOT", "RBENV_ROOT", "VOLTA_HOME", "PNPM_HOME", "BUN_INSTALL", "DENO_DIR", "SDKMAN_DIR", "ANDROID_HOME", "DOTNET_ROOT", "XDG_CACHE_HOME",
]) // prettier-ignore

/** Passed with the network only: how to reach it, and whose certificates to believe. */
const forNetwork = new Set([
  "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy",
  "SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE",
]) // prettier-ignore

/** Values that are a secret whatever their name is: keys of known makers, and addresses with a password in them. */
const secretValue =
  /(?:^|[^A-Za-z0-9])(?:gh[pousr]_|github_pat_|glpat-|sk-|xox[abeoprs]-|AKIA|ASIA|AIza|npm_|hf_|qm[ap]_|eyJ)[\w.-]{16,}|-----BEGIN [A-Z ]*PRIVATE KEY|:\/\/[^/\s:@]*:[^/\s@]+@/

/**
 * The variables a command starts with: a short list of ours without anything that looks like a secret, what the call
 * gives, and the mark that it runs inside a tool.
 */
export function commandEnvironment(
  ours: Readonly<Record<string, string | undefined>>,
  given: Environment = {},
  network = false,
): Environment {
  refuseMistakes(given)
  const kept = Object.entries(ours).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined &&
      (passed.has(entry[0]) || entry[0].startsWith("LC_") || (network && forNetwork.has(entry[0]))) &&
      !looksSecret(entry[0]) &&
      !secretValue.test(entry[1]),
  )
  return { PATH: "/usr/local/bin:/usr/bin:/bin", ...Object.fromEntries(kept), ...given, QM_INSIDE: "1" }
}

function refuseMistakes(given: Environment): void {
  for (const [name, value] of Object.entries(given)) {
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) {
      throw failure(`'${name}' is no name of a variable. Use letters, digits and _.`, { toolCode: "bad_environment" })
    }
    if (name.startsWith("QM_") || name.startsWith("QUARTERMASTER_")) {
      throw failure(`${name} belongs to Quartermaster and cannot be given to a command. Leave it out.`, {
        toolCode: "bad_environment",
      })
    }
    if (value.includes("\0")) {
      throw failure(`The value of ${name} has a NUL in it. Leave it out.`, { toolCode: "bad_environment" })
    }
  }
}
