import type { AuditRowJson } from "../../../src/interfaces/http/routes/audit-schemas.ts"

/** Returns the calls that show that a step of the first five minutes was done, newest first. */
export function stepsDone(calls: readonly AuditRowJson[], isRead: boolean) {
  return {
    ran: calls.filter(({ ran, asked, held, code }) => ran && !asked && !held && code === undefined),
    asked: calls.filter(({ asked }) => asked),
    answered: calls.filter(({ asked, by }) => asked && by !== undefined),
    isRead,
  }
}
