/** A command that stands anywhere in a script, its words as far as they can be told without running anything. */
export interface SeenCommand {
  readonly words: readonly string[]
  /** Text that it is given to read: a here-document or a here-string. */
  readonly input?: string | undefined
}

/** What parsers see in a script, at any depth. Here nothing is proved: it is only looked for what is denied. */
export interface Seen {
  readonly commands: SeenCommand[]
  readonly redirects: { readonly operator: string; readonly target: string }[]
}
