import { isObject } from "../lib/is-object.ts"
import type { Flaw } from "./check-configuration.ts"
import { wantsText, type Path } from "./schema-path.ts"
import { mayBeUnset, type UnsetVariable } from "./unset-variables.ts"
import { readScalar } from "../schema/yaml.ts"

export type Environment = Readonly<Record<string, string | undefined>>

/** Replaces environment variables in every text of a configuration. Values of variables are not interpolated again. */
export function interpolate(value: unknown, env: Environment): InterpolatedConfig {
  const flaws: Flaw[] = []
  const unset: UnsetVariable[] = []
  const fill = (part: unknown, path: Path): unknown => {
    if (Array.isArray(part)) return part.map((item, index) => fill(item, [...path, index]))
    if (isObject(part)) {
      return Object.fromEntries(Object.entries(part).map(([key, item]) => [key, fill(item, [...path, key])]))
    }
    if (typeof part !== "string" || isLeftAsWritten(path)) return part
    const { text, problems, unset: names } = interpolateText(part, env)
    const isWarning = names.length === problems.length && mayBeUnset(path)
    if (isWarning && names.length > 0) unset.push({ path, what: "value", sentence: problems.join(" "), names })
    if (!isWarning) for (const sentence of problems) flaws.push({ path, what: "value", sentence })
    return isOneVariable(part) && !wantsText(path) ? readScalar(text) : text
  }
  return { value: fill(value, []), flaws, unset }
}

export interface InterpolatedConfig {
  value: unknown
  flaws: Flaw[]
  /** Variables that are not set, at places where that is a warning. */
  unset: UnsetVariable[]
}

/** `${A}`, `${A:-default}`, `${A:?message}`; `$${` is a plain `${`. Anything else that begins with `${` is a problem. */
export function interpolateText(
  given: string,
  env: Environment,
): { text: string; problems: string[]; /** The variables that are not set. */ unset: string[] } {
  const problems: string[] = []
  const unset: string[] = []
  const text = given.replace(expression, (whole: string, inside: string | undefined) => {
    if (whole === "$${") return "${"
    const [, name = "", kind, rest = ""] = (whole.endsWith("}") && form.exec(inside ?? "")) || []
    if (name === "") {
      problems.push(`'${whole}' cannot be read. Write \${NAME}, \${NAME:-default} or \${NAME:?message}, not nested.`)
      return ""
    }
    const found = Object.hasOwn(env, name) ? env[name] : undefined
    if (found !== undefined && (found !== "" || kind === undefined)) return found
    if (kind === ":-") return rest
    const help = rest === "" ? `Set it, or write \${${name}:-default}.` : rest
    unset.push(name)
    problems.push(`The environment variable ${name} is ${found === "" ? "empty" : "not set"}. ${help}`)
    return ""
  })
  return { text, problems, unset }
}

/** Keys of models are read when a model is used: the configuration never holds one, and an unset variable hinders nobody else. */
function isLeftAsWritten([section, , key]: Path): boolean {
  return section === "models" && key === "apiKey"
}

const expression = /\$\$\{|\$\{([^}]*)\}?/g
const form = /^([A-Za-z_][A-Za-z0-9_]*)(?:(:-|:\?)((?:(?!\$\{).)*))?$/s

function isOneVariable(text: string): boolean {
  return /^\$\{[^}]*\}$/.test(text)
}
