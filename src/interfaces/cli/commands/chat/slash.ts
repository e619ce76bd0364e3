import { nearestName } from "../../../../lib/nearest-name.ts"

/** The inputs besides text for the agent, with their effects. */
export const slashCommands = {
  help: { takes: "", does: "show this" },
  tools: { takes: "", does: "the agent's tools by group" },
  why: { takes: "<tool> [input]", does: "whether a call would be allowed, and why; --all shows every check" },
  agents: { takes: "", does: "all agents" },
  audit: { takes: "", does: "the calls of this conversation" },
  model: { takes: "[name]", does: "the models, or another one from the next message on" },
  retry: { takes: "", does: "ask the model again after it failed" },
  cost: { takes: "", does: "what this conversation has used" },
  quit: { takes: "", does: "leave; so does Ctrl-D" },
} as const satisfies Record<string, { takes: string; does: string }>

export type SlashName = keyof typeof slashCommands

const names = Object.keys(slashCommands) as SlashName[]

export type Slash = { name: SlashName; words: string[] } | { problem: string }

/** Reads a line that begins with `/`. Undefined for any other. */
export function readSlash(line: string): Slash | undefined {
  if (!line.startsWith("/")) return undefined
  const [word = "", ...words] = splitWords(line.slice(1))
  const name = names.find((each) => each === word)
  if (name !== undefined) return { name, words }
  const guess = nearestName(word, names)
  const help = guess === undefined ? "/help shows all." : `Did you mean /${guess}?`
  return { problem: `/${word} is not a command. ${help} To say it to the agent, begin with a space.` }
}

/** The command that a beginning stands for, with a space behind it; undefined if there are none or several. */
export function completeSlash(line: string): string | undefined {
  if (!/^\/\w*$/.test(line)) return undefined
  const found = names.filter((name) => name.startsWith(line.slice(1)))
  return found.length === 1 ? `/${found[0]} ` : undefined
}

/** Splits at spaces. Quotes keep words together, and a JSON object is one word. */
export function splitWords(text: string): string[] {
  const json = text.indexOf(" {")
  if (json !== -1) return [...splitWords(text.slice(0, json)), text.slice(json + 1).trim()]
  const words = text.match(/(?:[^\s"']|"[^"]*"|'[^']*')+|["']/g) ?? []
  return words.map((word) =>
    word.replace(/"([^"]*)"|'([^']*)'/g, (_, double: string, single: string) => double ?? single),
  )
}
