/** A command found anywhere in a script, with its words as far as they are known without running anything. */
export interface ScannedCommand {
  readonly words: readonly string[]
  /** Its input: a here-document or a here-string. */
  readonly input?: string
}

/** The commands and redirects that parsers find in a script at any depth. It proves nothing; it serves to find what is denied. */
export interface ScanResult {
  readonly commands: ScannedCommand[]
  readonly redirects: { readonly operator: string; readonly target: string }[]
}
