import { readFile } from "node:fs/promises"
import { errorMessage } from "../lib/error-message.ts"
import { ConfigError } from "./config-error.ts"
import { readYaml } from "../schema/yaml.ts"

/** Parses a YAML or JSON file. Throws a ConfigError that names every problem. */
export async function readDataFile(file: string): Promise<unknown> {
  const text = await readFile(file, "utf8").catch((error: unknown) => {
    throw new ConfigError([{ file, key: "", sentence: `The file cannot be read: ${errorMessage(error)}.` }])
  })
  const { value, problems } = readYaml(text)
  if (problems.length > 0) throw new ConfigError(problems.map((problem) => ({ file, key: "", ...problem })))
  return value
}
