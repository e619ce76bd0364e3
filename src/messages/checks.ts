import { checks } from "../policy/checks/list.ts"

/** The sentences of the checks in Chinese, by code. The console's build puts the table itself in the place of this file. */
export const checkMessages: Readonly<Record<string, string>> = Object.fromEntries(
  checks.flatMap(({ name, stage, sentences, passes }) => [
    ...Object.entries(sentences).map(([code, { zh }]) => [code, zh]),
    ...(passes === undefined ? [] : [[stage === "level" ? "level_allows" : `passes_${name}`, passes.zh]]),
  ]),
)
