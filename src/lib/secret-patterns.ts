/** Written instead of a secret. */
export const hiddenText = "***"

/**
 * Hides everything in a text that looks like a secret, and calls `found` with each secret. Every pattern runs in linear
 * time: its repetitions are bounded, or nothing has to follow them.
 */
export function hideSecrets(text: string, found?: (secret: string) => void): string {
  let shown = text
  for (const pattern of patterns) {
    shown = shown.replace(pattern, (match: string, before: unknown) => {
      const prefix = typeof before === "string" ? before : ""
      found?.(match.slice(prefix.length))
      return prefix + hiddenText
    })
  }
  return shown
}

/** A quick test whether a text may contain a secret. Most texts do not. */
export function mayHoldSecret(text: string): boolean {
  return words.test(text) || (tokenLike.test(text) && marks.test(text))
}

/** Tokens that begin with a mark of their service, and what follows the mark. */
const tokens: readonly (readonly [mark: string, rest: string])[] = [
  ["gh[pousr]_", "[A-Za-z0-9]{20,}"],
  ["github_pat_", "\\w{20,}"],
  ["qm[ap]_", "[\\w-]{43}"],
  ["gl(?:pat|ptt|dt|rt|cbt|ft|soat|oas|imt|agent)-", "[\\w-]{16,}"],
  ["npm_", "[A-Za-z0-9]{30,}"],
  ["pypi-", "[\\w-]{40,}"],
  ["xox[abeoprs]-", "[\\w-]{10,}"],
  ["xapp-", "[\\w-]{20,}"],
  ["A(?:KIA|SIA|BIA|CCA)", "[A-Z0-9]{16}(?![A-Za-z0-9])"],
  ["AIza", "[\\w-]{30,}"],
  ["ya29\\.", "[\\w-]{20,}"],
  ["GOCSPX-", "[\\w-]{20,}"],
  ["[spr]k[-_]", "(?:[a-z0-9]{1,20}[-_]){0,3}(?=[A-Za-z]{0,60}\\d)[A-Za-z0-9]{20,}"],
  ["sk-", "(?=[a-z0-9_-]{0,100}[A-Z])(?=[A-Za-z_-]{0,100}\\d)[\\w-]{20,}"],
  ["sk-", "[A-Za-z0-9]{20,}"],
  ["[spr]k_(?:live|test)_", "[A-Za-z0-9]{10,}"],
  ["whsec_", "[A-Za-z0-9+/=]{20,}"],
  ["SG\\.", "[\\w-]{16,64}\\.[\\w-]{30,}"],
  ["(?:key-|SK|dapi)", "[0-9a-f]{32}(?![0-9a-f])"],
  ["shp(?:at|ca|pa|ss)_", "[0-9a-fA-F]{32}"],
  ["do[opr]_v1_", "[0-9a-f]{32,}"],
  ["hv[sbr]\\.", "[\\w-]{20,}"],
  ["(?:hf|gsk|r8|ntn|glsa|secret)_", "[A-Za-z0-9]{30,}"],
  ["(?:pplx|xai)-", "[A-Za-z0-9]{30,}"],
  ["(?:lin_api|sbp|fo1)_", "[\\w-]{30,}"],
  ["glc_", "[A-Za-z0-9+/=]{30,}"],
  ["dp\\.(?:pt|st|ct|sa|scim|audit)\\.", "[A-Za-z0-9]{30,}"],
  ["PMAK-", "[0-9a-f]{24}-[0-9a-f]{34}"],
  ["(?:NRAK|HRKU)-", "[\\w-]{20,}"],
  ["AGE-SECRET-KEY-1", "[0-9A-Z]{20,}"],
]

/** A value after its name: quoted, or up to the next separator. */
const value = String.raw`(?:"(?:[^"\\\n]|\\.){1,2000}|'[^'\n]{1,2000}|[^\s"'&,;}{\\]{3,})`
/** Between a name and its value, also where quotes are escaped once more. */
const is = String.raw`\\{0,3}["']?[ \t]{0,3}(?::|=>?)[ \t]{0,3}\\{0,3}`

/** Applied in this order: patterns that match more text come first. The first group stays readable. */
const patterns: readonly RegExp[] = [
  /-----BEGIN [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----|$)/g,
  /(Private-Lines:\s{0,3}\d{1,4}\s{1,3})[A-Za-z0-9+/=\s]{20,}/g,
  /(?<![A-Za-z0-9_])eyJ[\w-]{8,1024}\.[\w-]{8,}(?:\.[\w-]*){0,3}/g,
  /((?:authorization|cookie|x-[\w-]{0,30}(?:key|token|secret))\\{0,3}["']?\s{0,3}:\s{0,3}\\{0,3}["']?)[^\r\n"'\\]{3,}/gi,
  // Base64 has groups of four characters, and an ordinary word has no capital or digit inside.
  /\b([Bb]asic\s{1,3})(?=[A-Za-z]{0,80}[\d+/=]|[A-Za-z]{1,80}[A-Z])(?:[A-Za-z0-9+/]{4}){2,}(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?(?![A-Za-z0-9+/=])/g,
  /\b([Bb]earer\s{1,3})(?=[A-Za-z]{0,200}[\d._~+/]|[A-Za-z]{1,200}[A-Z])[\w.~+/-]{12,}={0,2}/g,
  new RegExp(`(?<![A-Za-z0-9])(?:${tokens.map(([mark, rest]) => mark + rest).join("|")})`, "g"),
  /(?<![\w.])\d{8,10}:AA[\w-]{33}(?![\w-])/g,
  /(hooks\.slack\.com\/(?:services|workflows)\/)[\w/]{20,}/g,
  /(discord(?:app)?\.com\/api\/webhooks\/\d{10,25}\/)[\w-]{30,}/g,
  // A port is not a password, and what follows it may hold an @.
  /\b([a-z][a-z0-9+.-]{0,20}:\/\/[^\s:/?#@"']{0,200}:)(?!\d{1,5}(?:[/?#\s"']|$))(?:[^\s"'<>/]{1,300}|[^\s"'<>@]{1,300})(?=@)/gi,
  /(:\/\/)(?=[A-Za-z_-]{0,60}\d)[\w-]{20,300}(?=@)/g,
  /(\bthin:[^\s/:@]{1,64}\/)[^\s@/]{1,200}(?=@)/g,
  /(\b[\w.-]{1,64}:)[^\s@:/"']{1,200}(?=@(?:tcp|unix)\()/g,
  new RegExp(
    `((?:pass[-_]?(?:word|wd|phrase|code)|pwd(?=${is}[^/~\\s])|secret|token|(?:api|access|private|account|encryption|signing)[-_ ]?key)${is})${value}`,
    "gi",
  ),
  new RegExp(
    `(\\b[A-Z][A-Z0-9_]{0,60}(?<!PRIMARY|FOREIGN|PUBLIC|PARTITION|SORT|CACHE)_(?:KEY|PASS|PW|PAT|AUTH|CREDS)${is})${value}`,
    "g",
  ),
  /((?:^|\s)--(?:pass(?:word|wd|phrase)?|secret|token|auth-token|client-secret|(?:api|access|private)-?key)[ =]["']?)(?!-)[^\s"';&|]{3,200}/gi,
  /(\b(?:curl|wget|https?|xh)\b[^\n]{0,200}?\s(?:-u|--user)[ =]["']?[^\s:"']{1,100}:)[^\s"']{1,200}/g,
  /([?&](?:key|sig|signature|x-amz-signature|x-goog-signature)=)[^\s&"']{8,}/gi,
]

// Grouped by first letters, which halves the time of the quick test.
const words =
  /a(?:uth|sic)|p(?:ass|w|rivate|at")|s(?:ecret|ig=|ignature|eed|lack\.com)|t(?:oken|hin:)|key|c(?:red|ookie|vv|vc|onnection|url)|d(?:sn|atabase|iscord)|jwt|otp|mnemonic|earer|wget|:\/\/|@tcp|@unix/i
/** The common part of the marks, faster to test than the marks themselves. */
const tokenLike = /[_-][\w-]{10}|[A-Za-z0-9]\.[\w-]{16}|eyJ|:AA|A(?:KIA|SIA|BIA|CCA|Iza)|SK[0-9a-f]{8}|dapi/
const marks = new RegExp(`eyJ|:AA|${tokens.map(([mark]) => mark).join("|")}`)
