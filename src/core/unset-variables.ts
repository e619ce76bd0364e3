/** Environment variables that the configuration reads and that are not set, by what needs them. */
export interface UnsetVariables {
  /** By the name of the MCP server. */
  readonly servers: Readonly<Record<string, readonly string[]>>
  /** By the name of the model. */
  readonly models: Readonly<Record<string, readonly string[]>>
  /** By the name of the database. */
  readonly databases: Readonly<Record<string, readonly string[]>>
  readonly webSearch: readonly string[]
}

/** The end of a sentence, for example "needs the environment variable TOKEN, which is not set". */
export function needsVariables(names: readonly string[]): string {
  const unique = [...new Set(names)]
  return unique.length === 1
    ? `needs the environment variable ${unique[0]}, which is not set`
    : `needs the environment variables ${unique.join(", ")}, which are not set`
}
