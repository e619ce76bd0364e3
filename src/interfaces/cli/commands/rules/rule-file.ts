import { resolve } from "node:path"
import type { CliContext } from "../../common/context.ts"
import { UsageError } from "../../common/usage.ts"

/** The rules in a file: the file is a list of rules, or a configuration with the key `rules`. */
export async function readRules(context: CliContext, file: string): Promise<readonly unknown[]> {
  const content = await readRule(context, file)
  const list = typeof content === "object" && content !== null && "rules" in content ? content.rules : content
  if (Array.isArray(list)) return list
  throw new UsageError(`${file} is not a list of rules. Write one rule per entry: - { deny: …, because: … }`)
}

/** One rule as YAML or JSON text, on its own or as the only entry of a list, not yet checked. */
export async function parseRule(text: string, help: string): Promise<unknown> {
  const { readYaml } = await import("../../../../schema/yaml.ts")
  const { value, problems } = readYaml(text)
  const [problem] = problems
  if (problem !== undefined)
    throw new UsageError(`The rule cannot be read as YAML or JSON (line ${problem.line}): ${problem.sentence} ${help}`)
  const rule: unknown = Array.isArray(value) && value.length === 1 ? value[0] : value
  if (typeof rule === "object" && rule !== null && !Array.isArray(rule)) return rule
  throw new UsageError(`The rule is not one rule with keys such as deny and because. ${help}`)
}

/** The content of a YAML or JSON file with one rule, not yet checked. */
export async function readRule({ io }: CliContext, file: string): Promise<unknown> {
  const { readDataFile } = await import("../../../../config/read-data-file.ts")
  return readDataFile(resolve(io.cwd, file))
}
