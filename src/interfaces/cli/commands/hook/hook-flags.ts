/** The flags of the installed command, read without the command line's parser: a hook runs for every call. */
export interface HookFlags {
  client: string
  agent?: string
  data?: string
  event?: string
  server?: string
  /** Seconds that the agent gives its hook. */
  timeout: number
  failOpen: boolean
}

const names = ["agent", "data", "event", "server", "timeout"] as const

/** Undefined for words that only the whole command line understands. */
export function readHookFlags([client, ...words]: readonly string[]): HookFlags | undefined {
  if (client === undefined || client.startsWith("-")) return undefined
  const found: Partial<Record<(typeof names)[number], string>> = {}
  let failOpen = false
  for (let at = 0; at < words.length; at++) {
    const word = words[at]!
    const name = names.find((each) => `--${each}` === word)
    if (word === "--fail-open") failOpen = true
    else if (name === undefined || words[at + 1] === undefined) return undefined
    else found[name] = words[++at]
  }
  const { timeout, ...texts } = found
  const seconds = Number(timeout ?? usualSeconds)
  return Number.isFinite(seconds) && seconds > 0 ? { client, ...texts, timeout: seconds, failOpen } : undefined
}

/** The time limit that `qm install` gives hooks, where the agent permits one. */
export const usualSeconds = 600

/** Returns the time that a person has, so that the answer is there before the agent gives up: then it would go on. */
export function waitMsOf({ timeout }: Pick<HookFlags, "timeout">): number {
  return Math.max(0, timeout - Math.max(2, Math.min(15, timeout / 4))) * 1000
}

/** Shortly before its time is up the hook denies, whatever it still waits for. */
export function lastMsOf({ timeout }: Pick<HookFlags, "timeout">): number {
  return Math.max(timeout / 2, timeout - Math.max(1, Math.min(5, timeout / 10))) * 1000
}

export const outOfTime =
  "NOT EXECUTED. Quartermaster did not answer in the time that the hook has. Make the same call again."
