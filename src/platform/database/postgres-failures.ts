import { failure, ToolFailure } from "../../core/ending.ts"

/** An error of the server or of the connection as a sentence. It never repeats the address, the user or the password. */
export function asFailure(name: string, error: unknown): Error {
  if (error instanceof ToolFailure) return error
  if (error instanceof RangeError) return failure(error.message, { toolCode: "row_too_large" })
  const { code = "", message = "", hint, position, severity } = error as PostgresError
  if (severity === undefined || /^(08|53|57P)/.test(code)) return unreachable(name, error)
  if (/^(28|3D)/.test(code))
    return failure(
      `The server of the database '${name}' refused to sign in. A person must check databases.${name}.url.`,
      {
        toolCode: "database_unreachable",
      },
    )
  const at = position === undefined ? "" : ` (at character ${position})`
  const help = hint === undefined ? "" : ` Hint: ${hint}`
  const [toolCode, transient] = codes[code] ?? ["sql_error"]
  return failure(`The database refused the statement: ${message.slice(0, 2000)}${at}.${help}`, {
    toolCode,
    ...(transient === true ? { transient } : {}),
  })
}

const codes: Readonly<Record<string, readonly [toolCode: string, transient?: boolean]>> = {
  "25006": ["read_only"],
  "42501": ["not_permitted"],
  "55P03": ["database_locked", true],
  "40001": ["database_locked", true],
  "40P01": ["database_locked", true],
  "57014": ["statement_stopped"],
}

interface PostgresError {
  readonly code?: string
  readonly message?: string
  readonly hint?: string
  readonly position?: string
  /** Only errors of the server have it. */
  readonly severity?: string
}

function unreachable(name: string, error: unknown): Error {
  const { code } = error as NodeJS.ErrnoException
  const why = code === undefined ? "" : ` (${code})`
  return failure(
    `The server of the database '${name}' cannot be reached${why}. Try again later; a person may have to start it or check databases.${name}.url.`,
    { toolCode: "database_unreachable", transient: true },
  )
}

export function tooLarge(bytes: number): Error {
  return failure(
    `The answer of the database has more than ${bytes / 1024 / 1024} MB, so the statement was ended, and nothing was changed. Ask for fewer rows, fewer columns, or parts of them with substr().`,
    { toolCode: "row_too_large" },
  )
}
