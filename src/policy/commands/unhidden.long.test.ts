import { spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { rgPath } from "@vscode/ripgrep"
import fc from "fast-check"
import { afterAll, expect, test } from "vitest"
import { openDisk } from "./disk.ts"
import { lex } from "./lexer.ts"
import { filesOf } from "./named-files.ts"
import { programOf } from "./programs.ts"

const above = mkdtempSync(join(realpathSync(tmpdir()), "quartermaster-unhidden-"))
afterAll(() => rmSync(above, { recursive: true, force: true }))

const files = [".env", "a.ts", "a/.env", "a/b.ts", "a/.x.ts", "a/.h/c.ts", "a/.h/.env", ".h/.h/.env", "b/.bashrc", "b/.env.ts", "b/c/.env"] // prettier-ignore
const ignores = [".ignore", "a/.ignore", "b/.rgignore", ".gitignore", "a/.gitignore", ".git/info/exclude", "a/.h/.ignore"] // prettier-ignore

const step = fc.constantFrom(".env", ".h", "a", "b", "c", "*", "**", ".*", "?env", "*.ts", "[.]env", "\\.env", "{.env,.h}", "{a/.env,x}", ".e*", ".ENV", "*env*", ".[!x]*", "", "..", "!.env") // prettier-ignore
const line = fc
  .tuple(
    fc.constantFrom("!", "!", "!/", "", "/", "\uFEFF!", " !", "\\!"),
    fc.array(step, { minLength: 1, maxLength: 3 }),
    fc.constantFrom("", "/", " ", "\r", "\\ "),
  )
  .map(([start, steps, end]) => `${start}${steps.join("/")}${end}`)
const options = fc.constantFrom("", "-t sh", "-t ts", "-tall", "-t json", "-T ts", "-S", "-t md")

test("rg reads no hidden file of which the guard does not know it", () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.constantFrom(...ignores), fc.array(line, { minLength: 1, maxLength: 3 })), { maxLength: 3 }),
      options,
      fc.constantFrom("", " a", " a b", " ."),
      (made, option, roots) => {
        const workspace = mkdtempSync(join(above, "w-"))
        const write = (path: string, text: string) => {
          mkdirSync(dirname(join(workspace, path)), { recursive: true })
          writeFileSync(join(workspace, path), text)
        }
        for (const file of files) write(file, "KEY\n")
        write(".git/HEAD", "ref: refs/heads/main\n")
        for (const [file, lines] of made) write(file, lines.join("\n"))
        const script = `rg ${option} -l KEY${roots}`
        const args = script.split(" ").filter((word) => word !== "").slice(1) // prettier-ignore
        const { stdout } = spawnSync(rgPath, ["--no-config", ...args], { cwd: workspace, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] }) // prettier-ignore
        const lexed = lex(script)
        if ("because" in lexed) throw new Error(lexed.because)
        const use = programOf("rg")!(lexed.line.segments[0]!.words.slice(1))
        const known = "because" in use ? use : filesOf([], use, workspace, { disk: openDisk(), workspace })
        if ("because" in known) return
        const paths = new Set(known.map(({ path }) => path))
        for (const file of stdout.split("\n").filter((name) => name !== ""))
          expect(paths, `${script} ${JSON.stringify(made)}`).toContain(join(workspace, file))
        rmSync(workspace, { recursive: true })
      },
    ),
    { numRuns: 400 },
  )
})
