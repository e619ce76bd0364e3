import type { Remember } from "../../../../core/approval.ts"
import { grantMinutes, grantScopes } from "../../../../core/rule.ts"
import { choiceFlag, UsageError } from "../../common/usage.ts"

const { least, most, usual } = grantMinutes

/** The values of `--remember`, for its help. */
export const rememberWords: readonly string[] = grantScopes.map((scope) =>
  scope === "minutes" ? `minutes:<${least}-${most}>` : scope,
)

/** Parses `--remember`: a scope, or `minutes:90`. */
export function rememberFlag(text: string | undefined): Remember {
  const [, number] = /^minutes:(.*)$/s.exec(text ?? "") ?? []
  if (number === undefined) return { remember: choiceFlag("--remember", text, grantScopes) }
  const minutes = /^\d{1,3}$/.test(number) ? Number(number) : 0
  if (minutes >= least && minutes <= most) return { remember: "minutes", minutes }
  throw new UsageError(
    `--remember minutes:<number> takes ${least} to ${most}, for example minutes:${usual}, and '${number}' is none of them.`,
  )
}
