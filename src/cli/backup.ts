import type { Command } from "commander"
import { resolve } from "node:path"
import type { Run, Session } from "./house.ts"
import { answer } from "./output.ts"
import { load, withApp } from "./session.ts"
import { expected } from "./usage.ts"

export function addBackup(program: Command, run: Run): void {
  program
    .command("backup <folder>")
    .description("copy everything that must last into a new folder, while others go on working")
    .action(run(backup))
  program
    .command("restore <folder>")
    .description("put a copy made by backup into the data folder, once it proved to be whole")
    .option("--replace", "also where there is data already, which is moved aside")
    .action(run(restore))
}

function backup(session: Session, given: string): Promise<number> {
  const folder = resolve(session.io.cwd, given)
  return withApp(session, {}, async (app) => {
    const copied = await expected(app.backup(folder))
    answer(
      session,
      { folder, ...copied },
      `Copied ${sizeText(copied)} to ${folder}. Its key is in there: keep it private.`,
    )
    return 0
  })
}

async function restore(session: Session, given: string, { replace }: { replace?: boolean }): Promise<number> {
  const folder = resolve(session.io.cwd, given)
  const loaded = await load(session)
  const restored = await expected(session.house.restore(folder, loaded, { replace: replace === true }))
  const { records, previous } = restored
  const aside = previous === undefined ? "" : ` What was there is in ${previous} now.`
  const sentence = `Restored ${sizeText(restored)} with ${records} records to ${loaded.dataDir}.${aside}`
  answer(session, { folder, dataDir: loaded.dataDir, ...restored }, sentence)
  return 0
}

function sizeText({ files, bytes }: { files: number; bytes: number }): string {
  return `${files} ${files === 1 ? "file" : "files"} (${(bytes / 1e6).toFixed(1)} MB)`
}
