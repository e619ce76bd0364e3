import { printableJson } from "../../../../lib/printable.ts"
import type { CliContext } from "../../common/context.ts"
import { printResult, printMessage, printOutput } from "../../common/output.ts"
import { withApp } from "../../common/open-app.ts"

/** Verifies the audit log. If it was changed, prints the first changed record and exits with 1. */
export function verifyAudit(context: CliContext, { head }: { head?: string }): Promise<number> {
  return withApp(context, { readOnly: true }, async ({ audit }) => {
    const verified = await audit.verify(head)
    if (context.flags.json) printOutput(context, printableJson(verified))
    else if (!verified.ok) printMessage(context, `${verified.record}: ${verified.problem}`)
    else {
      const { records, chains } = verified
      printOutput(context, `ok: ${counted(records, "record")} in ${counted(chains, "chain")}, unchanged.`)
    }
    return verified.ok ? 0 : 1
  })
}

/** Prints a checkpoint hash for `audit verify --head`. */
export function showAuditHead(context: CliContext): Promise<number> {
  return withApp(context, { readOnly: true }, async ({ audit }) => {
    const head = await audit.head()
    printResult(context, { head }, head)
    return 0
  })
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`
}
