import { basename, dirname } from "node:path"
import { packageFile } from "../../lib/package-file.ts"
import { isInProject } from "../../lib/program-in-project.ts"
import { shellWord } from "../../lib/shell-word.ts"
import type { PendingItem } from "../../core/approval.ts"
import { askedAgainText, itemHeadline } from "./item-text.ts"

/** One line for a person who is not asked: what waits, and the command that answers it from any folder. */
export function waitingLine(item: PendingItem, dataDir: string, program = programHere()): string {
  const where =
    basename(dataDir) === ".quartermaster" ? `-C ${shellWord(dirname(dataDir))}` : `--data ${shellWord(dataDir)}`
  return `Waiting for a person: ${itemHeadline(item)}.${askedAgainText(item)} Answer with: ${program} ${where} approvals ${answerWords(item)}`
}

/** The command line as a person in this folder starts it: by npx where it is installed, otherwise by its file. */
function programHere(): string {
  if (isInProject(process.cwd())) return "npx qm"
  return `node ${shellWord(packageFile("dist/qm.js"))}`
}

function answerWords({ kind, callId, revision, question }: PendingItem): string {
  const target = revision > 1 ? `${callId} --revision ${revision}` : callId
  if (kind !== "question") return `${kind === "result" ? "release" : "approve"} ${target}`
  return question?.url === undefined ? `answer ${target} "…"` : `answer ${target}`
}
