import { interpolateText, type Environment } from "./interpolate.ts"
import type { Path } from "./schema-path.ts"
import type { Config } from "./schema.ts"
import { consequence } from "./unset-variables.ts"

/** The keys of models whose variable is not set. They are read when a model is used, so no other part finds that before. */
export function modelKeyNotes(config: Config, env: Environment): { path: Path; sentence: string }[] {
  return Object.entries(config.models ?? {}).flatMap(([name, settings]) => {
    if (typeof settings !== "object" || !("apiKey" in settings) || settings.apiKey === undefined) return []
    const path = ["models", name, "apiKey"]
    const { unset, problems } = interpolateText(settings.apiKey, env)
    return unset.length === 0 ? [] : [{ path, sentence: `${problems.join(" ")} ${consequence(config, path)}` }]
  })
}
