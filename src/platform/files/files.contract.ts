import { execFileSync } from "node:child_process"
import { chmodSync, chownSync, existsSync, linkSync, lstatSync, mkdirSync, readdirSync, readlinkSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs" // prettier-ignore
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, onTestFinished, test } from "vitest"
import { asUnprivileged } from "../../testing/unprivileged.ts"
import { temporaryFolder } from "../../testing/test-app.ts"
import type { FilesOptions } from "./files.ts"
import { bytes, inventory, countDescriptorsBelow, openTestFiles, refusalCode, type TestFiles } from "./testing.ts"

const isRoot = process.getuid?.() === 0
const otherDevice = "/dev/shm"
const hasOtherDevice = existsSync(otherDevice) && statSync(otherDevice).dev !== statSync(tmpdir()).dev

/** The contract of every implementation of `Files`. */
export function filesContract(name: string, options: Partial<FilesOptions>): void {
  const open = (more: Partial<FilesOptions> = {}): TestFiles => openTestFiles({ ...options, ...more })
  describe(name, () => {
    reading(open)
    refusing(open)
    following(open)
    writing(open)
    moving(open)
    deleting(open)
    narrowing(open)
  })
}

type Make = (more?: Partial<FilesOptions>) => TestFiles

function reading(open: Make): void {
  test("a file is read whole and in parts, with its facts", async () => {
    const { files, put, workspace } = open()
    put("src/a.txt", "0123456789")
    const small = files.readSmall("src/a.txt", 10)!
    expect(small.bytes.toString()).toBe("0123456789")
    const stat = statSync(join(workspace, "src/a.txt"), { bigint: true })
    expect(small.facts).toEqual({
      kind: "file",
      size: 10,
      modifiedAt: Number(stat.mtimeNs) / 1e6,
      createdAt: Number(stat.birthtimeNs) / 1e6,
      accessedAt: expect.any(Number),
      mode: 0o644,
      links: 1,
      version: `${stat.dev}:${stat.ino}:${stat.mtimeNs}:${stat.ctimeNs}:10`,
      real: join(workspace, "src/a.txt"),
      path: "src/a.txt",
    })
    expect(files.facts("src/a.txt")).toMatchObject({ ...small.facts, accessedAt: expect.any(Number) })
    const file = await files.open("./src//a.txt")
    const buffer = Buffer.alloc(4)
    expect([await file.read(buffer, 8), buffer.toString("utf8", 0, 2), await file.read(buffer, 10)]).toEqual([
      2,
      "89",
      0,
    ])
    expect((await file.readAll(10)).toString()).toBe("0123456789")
    expect(await refusalCode(() => file.readAll(9))).toBe("too_large")
    await file.close()
    await file.close()
    await expect(file.read(buffer, 0)).rejects.toThrow("closed")
  })

  test("an empty file has no bytes, and one that is larger than asked for is not read at once", () => {
    const { files, put } = open()
    put("empty", "")
    put("eleven", "01234567890")
    expect(files.readSmall("empty", 0)!.bytes).toHaveLength(0)
    expect(files.readSmall("eleven", 10)).toBeUndefined()
    expect(files.readSmall("eleven", 11)!.bytes).toHaveLength(11)
  })

  test("a folder is listed with the kinds of what is in it, links as links", async () => {
    const { files, put, workspace } = open()
    put("file")
    put("folder/inner")
    put("link", "-> file")
    execFileSync("mkfifo", [join(workspace, "pipe")])
    expect((await files.list(".")).sort((one, other) => (one.name < other.name ? -1 : 1))).toEqual([
      { name: "file", kind: "file" },
      { name: "folder", kind: "folder" },
      { name: "link", kind: "link" },
      { name: "pipe", kind: "special" },
    ])
    expect(await files.list("folder/")).toEqual([{ name: "inner", kind: "file" }])
    expect(await refusalCode(() => files.list("file"))).toBe("not_a_folder")
    expect(await refusalCode(() => files.list("nothing"))).toBe("file_not_found")
    expect(files.facts(".")).toMatchObject({ kind: "folder", path: "." })
    expect(files.facts("folder")).toMatchObject({ kind: "folder", path: "folder" })
    expect(files.facts("pipe").kind).toBe("special")
  })

  test("the normal form of a path is from the workspace, without looking at the disk", async () => {
    const { files, workspace } = open()
    const forms = { ".": ".", "./a/../b//c/": "b/c", [workspace]: ".", [`${workspace}/x`]: "x", "/etc/x": "/etc/x" }
    for (const [path, normal] of Object.entries(forms)) expect(files.normalize(path)).toBe(normal)
    expect(await refusalCode(() => files.normalize("~/x"))).toBe("bad_path")
  })

  test("similar names are found for a missing file, or for its missing folder", () => {
    const { files, put } = open()
    for (const name of ["README.md", "reader.ts", "source/main.ts", "source/.env", "source/main.test.ts", "zebra"]) put(name) // prettier-ignore
    expect(files.similarNames("readme.txt")[0]).toBe("README.md")
    expect(files.similarNames("source/mian.ts")[0]).toBe("source/main.ts")
    expect(files.similarNames("source/main")).toContain("source/main.ts")
    expect(files.similarNames("sourze/main.ts")).toEqual(["source"])
    expect(files.similarNames("source/.en")).toEqual([])
    expect(files.similarNames("../outside/secret.tx")).toEqual([])
    expect(files.similarNames("xxxxxxxxxxxx")).toEqual([])
  })

  test("a search shows no secrets, nothing of version control, and nothing of ours", () => {
    const { workspace } = open()
    const { files } = open({ privatePaths: [join(workspace, "x")] })
    const hidden = [".env", "a/.env.local", "a/ID_RSA", ".git/config", "keys/server.key", ".npmrc", "../x", "/etc/x", ".aws/a.txt", ".config/gh/a.md", "sub/.git/a.ts", "id_rsa.txt", "a/cvs/b.ts"] // prettier-ignore
    for (const path of hidden) expect(files.isShown(path), path).toBe(false)
    for (const path of [
      "a.ts",
      "src/b.md",
      "package.json",
      ".github/workflows/ci.yml",
      ".env.example",
      "credentials/a.ts",
    ])
      // prettier-ignore
      expect(files.isShown(path), path).toBe(true)
  })

  test("nothing of a protected folder is shown, and everything of the one beside it", () => {
    const dir = temporaryFolder()
    mkdirSync(join(dir, "ws/inner/data"), { recursive: true })
    const { files } = open({ workspace: join(dir, "ws"), dataFolder: join(dir, "ws/inner/data"), privatePaths: [join(dir, "ws/inner/token.txt")] }) // prettier-ignore
    for (const path of ["inner/data/x.ts", "inner/data/a/b.ts", "inner/DATA/x.ts", "inner/token.txt"])
      expect(files.isShown(path), path).toBe(false)
    for (const path of ["inner/x.ts", "inner/data2/x.ts", "data/x.ts", "token.txt"])
      expect(files.isShown(path), path).toBe(true)
  })
}

function refusing(open: Make): void {
  test("special files are refused immediately, each with its code", async () => {
    const { files, put, workspace } = open()
    put("folder/x")
    put("file")
    execFileSync("mkfifo", [join(workspace, "pipe")])
    const server = createServer().listen(join(workspace, "socket"))
    onTestFinished(() => void server.close())
    await new Promise((done) => server.once("listening", done))
    const expected: Record<string, string> = { missing: "file_not_found", "missing/x": "file_not_found", folder: "is_folder", ".": "is_folder", "file/x": "not_a_folder", pipe: "special_file", socket: "special_file" } // prettier-ignore
    if (isRoot) {
      execFileSync("mknod", [join(workspace, "device"), "c", "1", "5"])
      expected["device"] = "special_file"
    }
    for (const [path, code] of Object.entries(expected)) {
      expect(await refusalCode(() => files.readSmall(path, 100)), path).toBe(code)
      expect(await refusalCode(() => files.open(path)), path).toBe(code)
    }
    for (const path of Object.keys(expected)) {
      if (path.startsWith("missing")) continue
      expect(await refusalCode(() => files.write(path, bytes("x"))), path).toBe(expected[path])
      if (path !== ".") expect(await refusalCode(() => files.write(path, bytes("x"), { append: true })), path).toBe(expected[path]) // prettier-ignore
    }
  })

  test("a file that may not be read or written says so", async () => {
    const { files, put, workspace } = open()
    chmodSync(put("secret", "x"), 0o000)
    put("closed/x")
    chmodSync(join(workspace, "closed"), 0o555)
    put("hall/x", "y")
    chmodSync(join(workspace, "hall"), 0o111)
    await asUnprivileged(
      () => chmodSync(join(workspace, ".."), 0o755),
      async () => {
        expect(await refusalCode(() => files.readSmall("secret", 10))).toBe("unreadable")
        expect(await refusalCode(() => files.open("secret"))).toBe("unreadable")
        expect(await refusalCode(() => files.write("closed/new", bytes("x")))).toBe("unreadable")
        expect(await refusalCode(() => files.trash("closed/x", "a"))).toBe("unreadable")
        // A folder that may be passed and not listed.
        expect(files.readSmall("hall/x", 10)!.bytes.toString()).toBe("y")
        expect(await refusalCode(() => files.list("hall"))).toBe("unreadable")
      },
    )
    for (const folder of ["closed", "hall"]) chmodSync(join(workspace, folder), 0o755)
    expect(inventory(workspace)).toEqual({ "closed/": "", "closed/x": "text", "hall/": "", "hall/x": "y", secret: "x" })
  })

  test("a malformed path and a path outside are refused by every operation", async () => {
    const { files, outside, workspace, put } = open()
    put("a")
    const codes: Record<string, string> = { "a\0b": "bad_path", "~/x": "bad_path", "$HOME/x": "bad_path", "file:///etc/passwd": "bad_path", "": "bad_path", "../outside/secret.txt": "outside", [join(outside, "secret.txt")]: "outside", "/proc/self/environ": "outside", "/dev/null": "outside", [`${workspace}-evil/x`]: "outside", ["x".repeat(300)]: "bad_path" } // prettier-ignore
    for (const [path, code] of Object.entries(codes)) {
      const found = await Promise.all(everyOperation(files, path).map((work) => refusalCode(work)))
      if (path.startsWith("xxx")) expect(found).toContain(code)
      else expect(found, path).toEqual(found.map(() => code))
    }
    expect(inventory(outside)).toEqual({ "secret.txt": "SECRET" })
  })

  test("protected paths are not written even if they do not exist, and keys and our data are not read", async () => {
    const { files, put, workspace, dataFolder } = open({ dataFolder: join(temporaryFolder(), "d") })
    put(".git/config", "old")
    put("id_rsa", "KEY")
    put("link", "-> .git")
    put("key", "-> id_rsa")
    for (const path of [".git/config", ".GIT/x", ".claude/settings.json", "link/config", "a/.mcp.json", ".bashrc"])
      expect(await refusalCode(() => files.write(path, bytes("x"))), path).toBe("sealed")
    for (const path of ["id_rsa", "key"])
      expect(await refusalCode(() => files.readSmall(path, 10)), path).toBe("sealed")
    expect(await refusalCode(() => files.move("put", ".git"))).toBe("file_not_found")
    for (const path of [".git", ".git/config"])
      expect(await refusalCode(() => files.trash(path, "a")), path).toBe("sealed")
    for (const path of ["", "backups"]) expect(await refusalCode(() => files.list(join(dataFolder, path)))).toMatch(/outside|sealed/) // prettier-ignore
    expect(files.readSmall(".git/config", 10)!.bytes.toString()).toBe("old")
    expect(inventory(workspace)).toEqual({ ".git/": "", ".git/config": "old", id_rsa: "KEY", link: "-> .git", key: "-> id_rsa" }) // prettier-ignore
  })

  test("a folder that contains our data is not moved or deleted", async () => {
    const dir = temporaryFolder()
    mkdirSync(join(dir, "ws/inner/data"), { recursive: true })
    const { files } = open({ workspace: join(dir, "ws"), dataFolder: join(dir, "ws/inner/data") })
    for (const path of ["inner", "inner/data"]) {
      expect(await refusalCode(() => files.trash(path, "a")), path).toBe("sealed")
      expect(await refusalCode(() => files.move(path, "elsewhere")), path).toBe("sealed")
    }
  })

  test("no operation leaves a descriptor open, however it ends", async () => {
    const { files, put, workspace, outside, trash } = open()
    put("file", "x")
    put("out", `-> ${outside}/secret.txt`)
    put("loop", "-> loop")
    put("notes", "-> .env")
    put(".env", "x")
    execFileSync("mkfifo", [join(workspace, "pipe")])
    const before = countDescriptorsBelow()
    for (const path of [
      "file",
      "out",
      "loop",
      "pipe",
      "notes",
      "missing",
      "folder/x",
      ".",
      "..",
      "file/x",
      "\0",
      ".git/x",
    ])
      for (const work of everyOperation(files, path)) await refusalCode(work)
    await refusalCode(() => trash.restore("nothing"))
    await refusalCode(() => trash.restore(""))
    for (const item of await trash.list()) await refusalCode(() => trash.restore(item.id))
    expect(countDescriptorsBelow()).toBeLessThanOrEqual(before)
  })
}

function following(open: Make): void {
  test("links that stay inside are followed, however they are written", async () => {
    const { files, put, workspace } = open()
    put("a/real.txt", "real")
    put("a/relative", "-> ../a/./real.txt")
    put("absolute", `-> ${workspace}/a/real.txt`)
    put("chain", "-> a/relative")
    put("folder", "-> a")
    put("b/up", "-> ../a")
    put("physical", "-> b/up/../a/real.txt")
    put("self", "-> .")
    for (const path of [
      "a/relative",
      "absolute",
      "chain",
      "folder/real.txt",
      "b/up/relative",
      "physical",
      "self/self/chain",
    ]) {
      expect(files.readSmall(path, 10), path).toMatchObject({ facts: { path: "a/real.txt", real: join(workspace, "a/real.txt") } }) // prettier-ignore
      const file = await files.open(path)
      expect((await file.readAll(10)).toString()).toBe("real")
      await file.close()
    }
    expect(files.facts("self")).toMatchObject({ kind: "folder", path: "." })
    expect(await files.list("self/folder")).toHaveLength(2)
  })

  test("an absolute path that leads in through a link elsewhere means the file inside", () => {
    const { files, put, workspace, outside } = open()
    put("a.txt", "in")
    symlinkSync(workspace, join(outside, "door"))
    expect(files.readSmall(join(outside, "door/a.txt"), 10)!.facts.path).toBe("a.txt")
  })

  test("links that lead outside, nowhere or in loops are refused, and nothing is created at their targets", async () => {
    const { files, put, outside } = open()
    put("out", `-> ${outside}/secret.txt`)
    put("out-folder", `-> ${outside}`)
    put("new-outside", `-> ${outside}/new.txt`)
    put("two-steps", "-> out-folder/secret.txt")
    put("up", "-> ../outside")
    put("loop", "-> loop")
    put("left", "-> right")
    put("right", "-> left")
    const codes: Record<string, string> = { out: "outside", "out-folder/secret.txt": "outside", "out-folder/new/deep.txt": "outside", "new-outside": "outside", "two-steps": "outside", "up/secret.txt": "outside", loop: "bad_path", left: "bad_path", "loop/x": "bad_path" } // prettier-ignore
    for (const [path, code] of Object.entries(codes)) {
      expect(await refusalCode(() => files.readSmall(path, 10)), path).toBe(code)
      expect(await refusalCode(() => files.write(path, bytes("x"))), path).toBe(code)
      expect(await refusalCode(() => files.write(path, bytes("x"), { append: true })), path).toBe(code)
    }
    for (const path of ["out-folder", "up"]) expect(await refusalCode(() => files.list(path)), path).toBe("outside")
    expect(inventory(outside)).toEqual({ "secret.txt": "SECRET" })
  })

  test("a link to a confirmed path is refused", async () => {
    const { files, put } = open()
    put(".env", "SECRET=1")
    put("notes", "-> .env")
    put("config/dev", "-> ../.env")
    expect(await refusalCode(() => files.readSmall("notes", 10))).toBe("sealed")
    expect(await refusalCode(() => files.open("config/dev"))).toBe("sealed")
    expect(await refusalCode(() => files.write("notes", bytes("x")))).toBe("sealed")
    expect(files.readSmall(".env", 10)!.bytes.toString()).toBe("SECRET=1")
  })
}

function writing(open: Make): void {
  test("a new file is created with its parent folders and the usual mode", async () => {
    const { files, read, workspace } = open()
    const written = await files.write("a/b/c.txt", bytes("new"))
    expect(written).toMatchObject({
      created: true,
      bytesWritten: 3,
      facts: { path: "a/b/c.txt", size: 3, mode: 0o644 },
    })
    expect(written.backup).toBeUndefined()
    expect([read("a/b/c.txt"), readdirSync(join(workspace, "a/b"))]).toEqual(["new", ["c.txt"]])
    expect(files.facts("a/b/c.txt").version).toBe(written.facts.version)
  })

  test("a replaced file keeps its permissions, and its old text is backed up in the data folder", async () => {
    const { files, put, read, workspace, dataFolder } = open()
    const path = put("run.sh", "old")
    chmodSync(path, 0o751)
    if (isRoot) chownSync(path, 1234, 2345)
    const written = await files.write("run.sh", bytes("new"))
    expect(written).toMatchObject({ created: false, facts: { mode: 0o751 } })
    expect(statSync(path)).toMatchObject(isRoot ? { uid: 1234, gid: 2345 } : {})
    expect(read("run.sh")).toBe("new")
    expect(written.backup!.startsWith(join(dataFolder, "backups"))).toBe(true)
    expect([inventory(written.backup!.slice(0, written.backup!.lastIndexOf("/")))].map((all) => Object.values(all))).toEqual([["old"]]) // prettier-ignore
    expect(statSync(written.backup!).mode & 0o777).toBe(0o600)
    expect(readdirSync(workspace)).toEqual(["run.sh"])
  })

  test("only the newest backups of each file are kept", async () => {
    const { files, dataFolder } = open({ backups: 3 })
    for (let at = 0; at < 8; at++) await files.write("a", bytes(`text ${at}`))
    await files.write("b", bytes("x"))
    const [folder, ...others] = readdirSync(join(dataFolder, "backups"))
    expect(others).toEqual([])
    expect(Object.values(inventory(join(dataFolder, "backups", folder!)))).toEqual(["text 4", "text 5", "text 6"])
    expect((await files.write("a", bytes("x"), { backups: 0 })).backup).toBeUndefined()
    expect(Object.values(inventory(join(dataFolder, "backups", folder!)))).toEqual(["text 4", "text 5", "text 6"])
  })

  test("an append adds to the end, and creates a missing file", async () => {
    const { files, read } = open()
    expect(await files.write("log", bytes("one\n"), { append: true })).toMatchObject({ created: true })
    const { facts, created, bytesWritten } = await files.write("log", bytes("two\n"), { append: true })
    expect({ created, bytesWritten, size: facts.size }).toEqual({ created: false, bytesWritten: 4, size: 8 })
    expect(read("log")).toBe("one\ntwo\n")
    expect(facts.version).toBe(files.facts("log").version)
  })

  test("a file with another version than expected is not written", async () => {
    const { files, put, read } = open()
    put("a", "old")
    const { version } = files.facts("a")
    writeFileSync(put("a", "mid"), "mid")
    expect(await refusalCode(() => files.write("a", bytes("new"), { expected: version }))).toBe("file_changed")
    expect(await refusalCode(() => files.write("a", bytes("new"), { expected: version, append: true }))).toBe(
      "file_changed",
    )
    expect(await refusalCode(() => files.write("gone", bytes("new"), { expected: version }))).toBe("file_changed")
    expect(await refusalCode(() => files.write("a", bytes("new"), { expected: null }))).toBe("exists")
    expect(read("a")).toBe("mid")
    const { facts } = await files.write("a", bytes("new"), { expected: files.facts("a").version })
    await files.write("a", bytes("newer"), { expected: facts.version })
    expect(await files.write("b", bytes("new"), { expected: null })).toMatchObject({
      created: true,
      facts: { links: 1 },
    })
    expect([read("a"), read("b")]).toEqual(["newer", "new"])
  })

  test("a file with a second hard link is not written, since that link could be outside", async () => {
    const { files, outside, workspace } = open()
    linkSync(join(outside, "secret.txt"), join(workspace, "innocent.txt"))
    expect(await refusalCode(() => files.write("innocent.txt", bytes("x")))).toBe("linked")
    expect(await refusalCode(() => files.write("innocent.txt", bytes("x"), { append: true }))).toBe("linked")
    expect(inventory(outside)).toEqual({ "secret.txt": "SECRET" })
    expect(files.facts("innocent.txt").links).toBe(2)
  })

  test("a write through a link changes its target and leaves the link", async () => {
    const { files, put, read, workspace } = open()
    put("real.txt", "old")
    put("link", "-> real.txt")
    put("later", "-> made/here.txt")
    expect(await files.write("link", bytes("new"))).toMatchObject({ created: false, facts: { path: "real.txt" } })
    expect(await files.write("later", bytes("made"))).toMatchObject({ created: true, facts: { path: "made/here.txt" } })
    expect([read("real.txt"), readlinkSync(join(workspace, "link")), read("made/here.txt")]).toEqual(["new", "real.txt", "made"]) // prettier-ignore
  })

  test("a failed write leaves nothing behind, not even a temporary file", async () => {
    const { files, put, workspace, outside } = open()
    put("folder/x", "x")
    put("out", `-> ${outside}/new`)
    put("a", "x")
    const before = inventory(workspace)
    for (const [path, options] of [
      ["folder", {}],
      ["out", {}],
      ["a", { expected: "1:2:3:4:5" }],
      ["a", { expected: null }],
      ["a/b/c", {}],
    ] as const)
      // prettier-ignore
      expect(await refusalCode(() => files.write(path, bytes("y"), options))).not.toBe("nothing was refused")
    expect(inventory(workspace)).toEqual(before)
  })

  test("a file that changes at the moment of the write is not overwritten", async () => {
    const { files, put, read, workspace } = open()
    const path = put("a", "old")
    const { version } = files.facts("a")
    const untimely = (work: () => void): Uint8Array =>
      Object.defineProperty(bytes("new"), "length", {
        get() {
          work()
          return 3
        },
      })
    const changing = untimely(() => writeFileSync(path, "somebody else's"))
    expect(await refusalCode(() => files.write("a", changing, { expected: version }))).toBe("file_changed")
    const making = untimely(() => writeFileSync(join(workspace, "b"), "somebody else's"))
    expect(await refusalCode(() => files.write("b", making, { expected: null }))).toBe("exists")
    expect([read("a"), read("b"), readdirSync(workspace)]).toEqual(["somebody else's", "somebody else's", ["a", "b"]])
  })

  test("a long name can be written, although the temporary one is longer", async () => {
    const { files, read } = open()
    const name = "n".repeat(255)
    await files.write(name, bytes("x"))
    await files.write(name, bytes("y"))
    expect(read(name)).toBe("y")
  })
}

function moving(open: Make): void {
  test("files, folders and links are moved, and missing parent folders are created", async () => {
    const { files, put, workspace } = open()
    put("a.txt", "a")
    put("folder/inner/b.txt", "b")
    put("link", "-> a.txt")
    expect(await files.move("a.txt", "x/y/a2.txt")).toMatchObject({ kind: "file", path: "x/y/a2.txt", size: 1 })
    expect(await files.move("folder", "x/folder2")).toMatchObject({ kind: "folder", path: "x/folder2" })
    expect(await files.move("link", "link2")).toMatchObject({ kind: "link" })
    expect(inventory(workspace)).toEqual({ link2: "-> a.txt", "x/": "", "x/folder2/": "", "x/folder2/inner/": "", "x/folder2/inner/b.txt": "b", "x/y/": "", "x/y/a2.txt": "a" }) // prettier-ignore
  })

  test("nothing is overwritten unless asked for, and then a backup is kept", async () => {
    const { files, put, read, dataFolder } = open()
    for (const [path, text] of Object.entries({ a: "a", b: "b", "f/x": "f", "g/x": "g" })) put(path, text)
    for (const [from, to] of [
      ["a", "b"],
      ["f", "g"],
      ["a", "f"],
      ["f", "a"],
      ["a", "."],
    ] as const)
      // prettier-ignore
      expect(await refusalCode(() => files.move(from, to)), `${from} ${to}`).toBe("exists")
    for (const [from, to] of [
      ["f", "g"],
      ["a", "f"],
      ["f", "a"],
    ] as const)
      // prettier-ignore
      expect(await refusalCode(() => files.move(from, to, { overwrite: true })), `${from} ${to}`).toBe("exists")
    await files.move("a", "b", { overwrite: true })
    expect([read("b"), Object.values(inventory(join(dataFolder, "backups"))).filter(Boolean)]).toEqual(["a", ["b"]])
  })

  test("what cannot be moved is refused with its code", async () => {
    const { files, put, workspace, outside } = open()
    put("f/x")
    put("file")
    put("out", `-> ${outside}`)
    execFileSync("mkfifo", [join(workspace, "pipe")])
    const cases = [["missing", "b", "file_not_found"], ["f", "f/inner", "bad_path"], [".", "b", "sealed"], ["pipe", "b", "special_file"], ["file", "../outside/b", "outside"], ["file", "out/b", "outside"], ["out/secret.txt", "b", "outside"], ["file", ".git/hooks/pre-commit", "sealed"], ["f", ".claude", "sealed"]] as const // prettier-ignore
    for (const [from, to, code] of cases)
      expect(await refusalCode(() => files.move(from, to)), `${from} ${to}`).toBe(code)
    expect(await files.move("file", "file")).toMatchObject({ path: "file" })
    expect(await files.move("out", "out2")).toMatchObject({ kind: "link" })
    expect(inventory(outside)).toEqual({ "secret.txt": "SECRET" })
    expect(existsSync(join(workspace, "f/x"))).toBe(true)
  })

  test.skipIf(!hasOtherDevice)("a folder moves to another device and back unchanged", async () => {
    const away = join(otherDevice, `qm-test-${process.pid}-${Math.random().toString(36).slice(2)}`)
    mkdirSync(away)
    onTestFinished(() => rmSync(away, { recursive: true }))
    const { files, put, workspace } = open({ allowedPaths: [".", away] })
    chmodSync(put("f/run.sh", "#!"), 0o755)
    put("f/deep/bytes", Buffer.from([0, 255, 10, 13]))
    put("f/link", "-> run.sh")
    const before = inventory(join(workspace, "f"))
    const stat = statSync(join(workspace, "f/run.sh"))
    await files.move("f", join(away, "f"))
    expect([existsSync(join(workspace, "f")), inventory(join(away, "f"))]).toEqual([false, before])
    expect(statSync(join(away, "f/run.sh"))).toMatchObject({ mode: stat.mode, uid: stat.uid, gid: stat.gid })
    expect(Math.abs(statSync(join(away, "f/run.sh")).mtimeMs - stat.mtimeMs)).toBeLessThan(1)
    expect(await files.move(join(away, "f/deep/bytes"), "bytes")).toMatchObject({ size: 4, path: "bytes" })
    put("g/x")
    execFileSync("mkfifo", [join(workspace, "g/pipe")])
    expect(await refusalCode(() => files.move("g", join(away, "g")))).toBe("special_file")
    expect([readdirSync(away), existsSync(join(workspace, "g/x"))]).toEqual([["f"], true])
  })
}

function deleting(open: Make): void {
  test("a deleted item is in the trash and can be restored", async () => {
    const { files, trash, put, workspace } = open()
    put("a.txt", "a")
    put("folder/inner/b.txt", "bb")
    put("link", "-> folder")
    const before = inventory(workspace)
    const at = Date.now()
    const first = await files.trash("a.txt", "ann")
    expect(first).toMatchObject({ path: "a.txt", kind: "file", size: 1, agentId: "ann" })
    expect(first.deletedAt).toBeGreaterThanOrEqual(at)
    await new Promise((done) => setTimeout(done, 2))
    const second = await files.trash("folder", "bob")
    expect(second).toMatchObject({ path: "folder", kind: "folder", size: 2 })
    await new Promise((done) => setTimeout(done, 2))
    const third = await files.trash("link", "bob")
    expect(third.kind).toBe("link")
    expect(inventory(workspace)).toEqual({})
    expect(await trash.list()).toEqual([third, second, first])
    for (const { id } of [third, second, first]) await trash.restore(id.slice(0, 8))
    expect([inventory(workspace), await trash.list()]).toEqual([before, []])
  })

  test("nothing is restored over an existing file, and an id must be unique", async () => {
    const { files, trash, put, read, workspace } = open()
    put("d/a", "old")
    const { id } = await files.trash("d/a", "ann")
    put("d/a", "new")
    expect(await refusalCode(() => trash.restore(id))).toBe("exists")
    expect(read("d/a")).toBe("new")
    rmSync(join(workspace, "d"), { recursive: true })
    for (const unknown of ["", "zzz", `${id}x`])
      expect(await refusalCode(() => trash.restore(unknown))).toBe("file_not_found")
    expect(await trash.restore(id)).toMatchObject({ path: "d/a" })
    expect([read("d/a"), await refusalCode(() => trash.restore(id))]).toEqual(["old", "file_not_found"])
  })

  test("what cannot be deleted is left where it is, and nothing of it is in the trash", async () => {
    const { files, trash, put, workspace, outside, dataFolder } = open()
    put("out", `-> ${outside}`)
    execFileSync("mkfifo", [join(workspace, "pipe")])
    const codes = { missing: "file_not_found", ".": "sealed", "out/secret.txt": "outside", pipe: "special_file" }
    for (const [path, code] of Object.entries(codes)) expect(await refusalCode(() => files.trash(path, "a")), path).toBe(code) // prettier-ignore
    expect([await trash.list(), inventory(join(dataFolder, "trash"))]).toEqual([[], {}])
    await files.trash("out", "a")
    expect([lstatSync(join(workspace, "out"), { throwIfNoEntry: false }), inventory(outside)]).toEqual([undefined, { "secret.txt": "SECRET" }]) // prettier-ignore
  })

  test.skipIf(!hasOtherDevice)("the trash can be on another device", async () => {
    const dataFolder = join(otherDevice, `qm-test-${process.pid}-${Math.random().toString(36).slice(2)}`)
    const { files, trash, put, workspace } = open({ dataFolder })
    onTestFinished(() => rmSync(dataFolder, { recursive: true }))
    put("f/a", "a")
    put("f/l", "-> a")
    const before = inventory(workspace)
    const { id } = await files.trash("f", "ann")
    expect(inventory(workspace)).toEqual({})
    await trash.restore(id)
    expect(inventory(workspace)).toEqual(before)
  })
}

function narrowing(open: Make): void {
  test("`within` narrows the files of one call by folders and globs, and never widens them", async () => {
    const { files, put, outside, workspace } = open()
    put("src/a.ts", "a")
    put("docs/b.md", "b")
    put("src/to-docs", "-> ../docs/b.md")
    const narrow = files.within(["src", outside])
    expect(narrow.readSmall("src/a.ts", 10)!.bytes.toString()).toBe("a")
    for (const path of ["docs/b.md", ".", "src/to-docs", join(outside, "secret.txt")])
      expect(await refusalCode(() => narrow.readSmall(path, 10)), path).toBe("outside")
    expect(await refusalCode(() => narrow.list("."))).toBe("outside")
    expect(await narrow.list("src")).toHaveLength(2)
    expect(await refusalCode(() => narrow.write("docs/new/x", bytes("x")))).toBe("outside")
    expect([narrow.isShown("src/a.ts"), narrow.isShown("docs/b.md")]).toEqual([true, false])
    const globbed = files.within(["**/*.md"])
    expect(globbed.readSmall("docs/b.md", 10)!.bytes.toString()).toBe("b")
    expect(await refusalCode(() => globbed.readSmall("src/a.ts", 10))).toBe("outside")
    await globbed.write("deep/new/c.md", bytes("c"))
    expect(await refusalCode(() => globbed.write("deeper/new/c.ts", bytes("c")))).toBe("outside")
    put("src/folder", "-> ../docs")
    expect(await refusalCode(() => narrow.write("src/folder/made/x", bytes("x")))).toBe("outside")
    expect([existsSync(join(workspace, "deeper")), existsSync(join(workspace, "docs/made"))]).toEqual([false, false])
    expect(await refusalCode(() => narrow.within(["docs"]).readSmall("docs/b.md", 10))).toBe("outside")
    expect(await refusalCode(() => files.within([]).readSmall("src/a.ts", 10))).toBe("outside")
    expect(files.within(undefined).readSmall("docs/b.md", 10)!.bytes.toString()).toBe("b")
  })

  test("an additional root is inside, named by its absolute path", async () => {
    const dir = temporaryFolder()
    mkdirSync(join(dir, "more"))
    symlinkSync(join(dir, "more"), join(dir, "named"))
    const { files, put } = open({ allowedPaths: [".", join(dir, "named")] })
    await files.write(join(dir, "named/x/y.txt"), bytes("y"))
    expect(files.facts(join(dir, "more/x/y.txt")).path).toMatch(/^\/.*\/more\/x\/y\.txt$/)
    put("a", "a")
    await files.move("a", join(dir, "more/a"))
    const { id, path } = await files.trash(join(dir, "more/a"), "ann")
    expect([path.endsWith("/more/a"), id.length]).toEqual([true, 36])
    for (const root of ["more", "named"]) expect(await refusalCode(() => files.trash(join(dir, root), "a"))).toMatch(/sealed|outside/) // prettier-ignore
    expect(readdirSync(dir).sort()).toEqual(["more", "named"])
    expect(await refusalCode(() => files.write(join(dir, "z"), bytes("z")))).toBe("outside")
  })
}

/** Every operation of `Files` on one path. */
export function everyOperation(files: TestFiles["files"], path: string): (() => unknown)[] {
  return [
    () => files.facts(path),
    async () => (await files.open(path)).close(),
    () => files.readSmall(path, 1000),
    () => files.list(path),
    () => files.write(path, bytes("evil")),
    () => files.write(path, bytes("evil"), { append: true }),
    () => files.move(path, "moved"),
    () => files.move("a", path),
    () => files.trash(path, "agent"),
  ]
}
