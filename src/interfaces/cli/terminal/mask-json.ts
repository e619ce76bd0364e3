import { isSecretName } from "../../../lib/secret-names.ts"
import { hiddenText, hideSecrets } from "../../../lib/secret-patterns.ts"

/** A JSON text to print: values that are secrets by their name or their look are hidden, references to variables are not. */
export function maskJson(text: string): string {
  return text
    .split(/("(?:[^"\\\n]|\\.)*"\s*:\s*"(?:[^"\\\n]|\\.)*")/)
    .map((part, index) => (index % 2 === 0 ? hideSecrets(maskArguments(part)) : maskPair(part)))
    .join("")
}

/** `"--api-key", "…"` in a list of arguments. */
function maskArguments(text: string): string {
  return text.replace(/"-{1,2}([\w-]+)"\s*,\s*"(?!-)[^"\n]+"/g, (pair, name: string) =>
    isSecretName(name) ? pair.replace(/"[^"]+"$/, `"${hiddenText}"`) : pair,
  )
}

function maskPair(pair: string): string {
  const [, name = "", between = "", value = ""] = /^"(.*?)"(\s*:\s*)"(.*)"$/s.exec(pair) ?? []
  if (/^[^$]*\$\{[\w:-]+\}$/.test(value)) return pair
  return isSecretName(name) ? `"${name}"${between}"${hiddenText}"` : hideSecrets(pair)
}
