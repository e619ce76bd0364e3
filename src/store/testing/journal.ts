import { mkdirSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { onTestFinished } from "vitest"
import { silentLogger } from "../../core/logger.ts"
import type { AuditEntry, StartEntry } from "../../core/audit-entry.ts"
import { dataFolder } from "../../testing/test-app.ts"
import { Audit } from "../../audit/audit.ts"
import { Journal } from "../sqlite/journal.ts"
import type { RecordKey } from "../sqlite/record-key.ts"
import { openStore } from "../sqlite/store.ts"

export const deadOwner = "another-host-no|1|1|x".replace("another-host-no", (await import("node:os")).hostname())

export const someStart = (callId: string): StartEntry => ({
  kind: "start",
  callId,
  at: 5,
  agentId: "a",
  tool: "t",
  sessionId: "s",
  input: '{"text":"中文 \\n"}',
})
export const someEnd = (callId: string): AuditEntry => ({
  kind: "end", callId, at: 9, agentId: "a", role: "r", tool: "t", sessionId: "s", status: "success", startedAt: 5, durationMs: 4, ran: true,
}) // prettier-ignore

export async function openAuditTables() {
  const dataDir = await dataFolder()
  const store = await openStore({ dataDir, owner: "reader", logger: silentLogger, writes: "direct" })
  onTestFinished(() => store.close())
  mkdirSync(store.journalDir)
  return { ...store, audit: new Audit(store.database, store.key, store.journalDir) }
}

/** The journal of a dead process: ten calls, one frame per line, the last call without its end. */
export async function writeDeadJournal(
  dir: string,
  key: RecordKey,
): Promise<{ file: string; text: Buffer; acknowledged: number[] }> {
  const journal = new Journal(dir, key, deadOwner, () => {})
  const acknowledged: number[] = []
  const name = () =>
    join(
      dir,
      readdirSync(dir).find((file) => file.startsWith(journal.uuid))!,
    )
  for (let call = 0; call < 10; call++) {
    for (const entry of call === 9 ? [someStart("c9")] : [someStart(`c${call}`), someEnd(`c${call}`)]) {
      await journal.write(entry, "crash")
      acknowledged.push(readFileSync(name()).length)
    }
  }
  journal.close()
  const file = name()
  return { file, text: readFileSync(file), acknowledged }
}
