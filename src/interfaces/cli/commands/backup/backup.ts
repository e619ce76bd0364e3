import { counted } from "../../../../lib/counted.ts"
import type { CliCommand } from "../../common/cli-command.ts"
import { resolve } from "node:path"
import type { Run, CliContext } from "../../common/context.ts"
import { printResult } from "../../common/output.ts"
import { loadConfigWithWarnings, withApp } from "../../common/open-app.ts"
import { orCannotDo } from "../../common/usage.ts"

export function addBackup(program: CliCommand, run: Run): void {
  program
    .command("backup <folder>")
    .example("qm backup /backups/2026-01-31")
    .description("copy all data into a new folder; other processes can keep working")
    .action(run(backup))
  program
    .command("restore <folder>")
    .example("qm restore /backups/2026-01-31")
    .description("verify a backup and put it into the data folder")
    .option("--replace", "replace existing data; it is moved to another folder, not deleted")
    .action(run(restore))
}

function backup(context: CliContext, given: string): Promise<number> {
  const folder = resolve(context.io.cwd, given)
  return withApp(context, {}, async (app) => {
    const copied = await orCannotDo(app.backup(folder))
    printResult(
      context,
      { folder, ...copied },
      `Copied ${sizeText(copied)} to ${folder}. It contains the key of the audit log: keep it private.`,
    )
    return 0
  })
}

async function restore(context: CliContext, given: string, { replace }: { replace?: boolean }): Promise<number> {
  const folder = resolve(context.io.cwd, given)
  const loaded = await loadConfigWithWarnings(context)
  const restored = await orCannotDo(restoreData(folder, loaded.dataDir, context.io.home, replace === true))
  const { records, paused, previous } = restored
  const moved = previous === undefined ? "" : ` The previous data is in ${previous}.`
  const still =
    paused === 0
      ? ""
      : ` Conversations that stand still until you resume them: ${paused}. 'qm chat --agent <id> --resume' shows those of an agent.`
  const sentence = `Restored ${sizeText(restored)} with ${counted(records, "record")} to ${loaded.dataDir}.${moved}${still}`
  printResult(context, { folder, dataDir: loaded.dataDir, ...restored }, sentence)
  return 0
}

async function restoreData(folder: string, dataDir: string, home: string, replace: boolean) {
  const { restore: copyBack } = await import("../../../../app/restore.ts")
  const { rememberFolder } = await import("../../../../config/known-folders.ts")
  const restored = await copyBack(folder, dataDir, { replace })
  rememberFolder(dataDir, home)
  return restored
}

function sizeText({ files, bytes }: { files: number; bytes: number }): string {
  return `${files} ${files === 1 ? "file" : "files"} (${(bytes / 1e6).toFixed(1)} MB)`
}
