import fc from "fast-check"
import { expect, test } from "vitest"
import { readGround } from "./paths-ground.ts"
import { carefulBecause, sealedBecause, type Use } from "./paths-lists.ts"
import { quickShown } from "./paths-shown.ts"
import { foldName, foldPath, textFault } from "./paths-text.ts"

type Verdict = "sealed" | "careful" | "free"

function verdict(path: string, use: Use): Verdict {
  if (sealedBecause(path, use) !== undefined) return "sealed"
  return carefulBecause(path, use) === undefined ? "free" : "careful"
}

/** path → what reading and writing it is. */
const table: Record<string, [Verdict, Verdict]> = {
  "src/main.ts": ["free", "free"],
  "README.md": ["free", "free"],
  "src/key.ts": ["free", "free"],
  "monkey.txt": ["free", "free"],
  "keys/readme.md": ["free", "free"],
  ".gitignore": ["free", "free"],
  ".git": ["free", "sealed"],
  ".git/config": ["careful", "sealed"],
  "a/.git/hooks/pre-commit": ["free", "sealed"],
  ".hg/hgrc": ["free", "sealed"],
  ".claude": ["free", "sealed"],
  ".mcp.json": ["free", "sealed"],
  ".cursor/rules/x.mdc": ["free", "sealed"],
  ".vscode/launch.json": ["free", "sealed"],
  ".idea/workspace.xml": ["free", "sealed"],
  ".husky/_/husky.sh": ["free", "sealed"],
  ".devcontainer/Dockerfile": ["free", "sealed"],
  ".bashrc": ["free", "sealed"],
  ".profile": ["free", "sealed"],
  ".zshrc": ["free", "sealed"],
  ".gitconfig": ["free", "sealed"],
  ".npmrc": ["careful", "sealed"],
  ".envrc": ["careful", "sealed"],
  ".config/fish/config.fish": ["free", "sealed"],
  ".config/gh/hosts.yml": ["careful", "careful"],
  ".config": ["free", "sealed"],
  ".config/app/settings.json": ["free", "free"],
  ".cargo/credentials.toml": ["careful", "careful"],
  ".docker/config.json": ["careful", "careful"],
  ".ssh/known_hosts": ["sealed", "sealed"],
  ".gnupg/x": ["sealed", "sealed"],
  id_rsa: ["sealed", "sealed"],
  "deploy/id_ecdsa_sk": ["sealed", "sealed"],
  "id_rsa.bak": ["sealed", "sealed"],
  "id_rsa.pub": ["free", "free"],
  "server.key": ["sealed", "sealed"],
  "tls/privkey.pem": ["sealed", "sealed"],
  "tls/fullchain.pem": ["free", "free"],
  "tls/ca.pem": ["free", "free"],
  "store.p12": ["sealed", "sealed"],
  ".env": ["careful", "careful"],
  ".env.local": ["careful", "careful"],
  "prod.env": ["careful", "careful"],
  ".env.example": ["free", "free"],
  ".env.example.local": ["careful", "careful"],
  ".environment": ["free", "free"],
  ".env~": ["careful", "careful"],
  ".env2": ["careful", "careful"],
  "..env.swp": ["careful", "careful"],
  "#.env#": ["careful", "careful"],
  ".env.example~": ["free", "free"],
  ".envs/production/django": ["careful", "careful"],
  ".dev.vars": ["careful", "careful"],
  ".npmrc.bak": ["careful", "careful"],
  "credentials.json.old": ["careful", "careful"],
  "id_rsa~": ["sealed", "sealed"],
  ".id_ed25519.swp": ["sealed", "sealed"],
  "server.key.orig": ["sealed", "sealed"],
  "id_rsa.pub.bak": ["free", "free"],
  "notes.bak": ["free", "free"],
  "~": ["free", "free"],
  "#": ["free", "free"],
  ".bak": ["free", "free"],
  ".bash_history": ["careful", "careful"],
  ".m2/settings.xml": ["careful", "careful"],
  ".m2/repository/x.jar": ["free", "free"],
  "secrets.yml": ["careful", "careful"],
  "service-account-prod.json": ["careful", "careful"],
  "terraform.tfstate": ["careful", "careful"],
  ".netrc": ["careful", "careful"],
  ".aws/credentials": ["careful", "careful"],
  "package.json": ["free", "careful"],
  "packages/a/package.json": ["free", "careful"],
  "package.json.md": ["free", "free"],
  Makefile: ["free", "careful"],
  "rules.mk": ["free", "careful"],
  "Dockerfile.dev": ["free", "careful"],
  "Dockerfile.md": ["free", "free"],
  "Cargo.toml": ["free", "careful"],
  "CMakeLists.txt": ["free", "careful"],
  "x.gemspec": ["free", "careful"],
  "package.json.bak": ["free", "free"],
  ".yarn/releases/yarn-4.cjs": ["free", "careful"],
  ".yarn/cache/x.zip": ["free", "free"],
  ".mvn/wrapper/maven-wrapper.properties": ["free", "careful"],
  Jenkinsfile: ["free", "careful"],
  ".github/workflows/ci.yml": ["free", "careful"],
  ".github/workflows": ["free", "careful"],
  ".github": ["free", "careful"],
  ".github/README.md": ["free", "free"],
  ".circleci/config.yml": ["free", "careful"],
  ".pre-commit-config.yaml": ["free", "careful"],
  "quartermaster.yml": ["free", "sealed"],
  ".quartermaster/record.key": ["sealed", "sealed"],
}

test.each(Object.entries(table))("%s is to be read and written: %s", (path, [read, write]) => {
  expect([verdict(path, "read"), verdict(path, "write")]).toEqual([read, write])
})

/** Ways to write a name that some file system takes for the same. */
const disguises: Record<string, (name: string) => string> = {
  capitals: (name) => name.toUpperCase(),
  "a dot at the end": (name) => `${name}.`,
  "spaces at the end": (name) => `${name}  `,
  "a space before": (name) => ` ${name}`,
  "full-width letters": (name) =>
    name.replace(/[a-z]/g, (letter) => String.fromCodePoint(letter.codePointAt(0)! + 0xfee0)),
  "an invisible character": (name) => `${name.slice(0, 2)}\u200d${name.slice(2)}`,
  "a soft hyphen": (name) => `${name}\u00ad`,
  "a stream": (name) => `${name}::$DATA`,
  "the long s": (name) => name.replaceAll("s", "ſ"),
}

const guarded = Object.entries(table).filter(([, verdicts]) => verdicts.some((one) => one !== "free"))

test("law: no disguise makes a sealed or careful path free", () => {
  const disguiseOf = fc.constantFrom(...Object.values(disguises))
  const law = fc.property(
    fc.constantFrom(...guarded),
    fc.array(disguiseOf, { maxLength: 3 }),
    fc.boolean(),
    (one, ways, under) => {
      const [path, [read, write]] = one
      const hidden = path.split("/").map((step) => ways.reduce((name, way) => way(name), step)).join("/") // prettier-ignore
      const written = under ? `deep/er/${hidden}` : hidden
      if (read !== "free") expect(verdict(written, "read"), written).toBe(read)
      if (write !== "free") expect(verdict(written, "write"), written).toBe(write)
    },
  )
  fc.assert(law, { numRuns: 500 })
})

test("law: folding a name again changes nothing, and a path folds as its names do", () => {
  const nameOf = fc.string({ unit: "grapheme", maxLength: 12 }).map((name) => name.replaceAll("/", ""))
  fc.assert(
    fc.property(fc.array(nameOf, { maxLength: 4 }), (names) => {
      for (const name of names) expect(foldName(foldName(name))).toBe(foldName(name))
      expect(foldPath(names.join("/"))).toBe(names.map(foldName).join("/"))
    }),
    { numRuns: 500 },
  )
})

test("law: the quick way to ask what a search may show says the same as the slow one", () => {
  const sealed = ["/ws/data", "/ws/a/token.txt"]
  const ground = readGround({ workspace: "/ws", sealed, realpath: (path) => path })
  const stepOf = fc.constantFrom(
    "a",
    "b",
    "data",
    "DATA",
    ".git",
    ".aws",
    ".config",
    "gh",
    "CVS",
    "src",
    "..",
    ".",
    "é",
    "~",
  )
  const lastOf = fc.constantFrom("x.ts", "token.txt", "TOKEN.TXT", ".env", "id_rsa.txt", "a.key", "a.key.bak", "secrets.yml~", ".env2", "gh", "package.json", "credentials", "x.TS", "ｘ.ts") // prettier-ignore
  const quick = quickShown(ground, sealed)
  const law = fc.property(
    fc.array(stepOf, { maxLength: 4 }),
    lastOf,
    fc.constantFrom("", "", "", "/"),
    (steps, last, start) => {
      const path = start + [...steps, last].join("/")
      const place = ground.place(path)
      expect(quick(path), path).toBe(typeof place === "string" && ground.isShown(place))
    },
  )
  fc.assert(law, { numRuns: 3000 })
})

test.each([
  "a\0b",
  "a\nb",
  "",
  "~",
  "~/x",
  "$HOME",
  "${x}/y",
  "$(x)",
  "`x`",
  "file:///x",
  "data:text/plain,x",
  "a\\b",
  "C:/x",
  "%2e%2e/x",
  "a%2Fb",
  "．．/x",
  "\ud800",
  "x".repeat(5000),
])("%j is no path", (path) => {
  // prettier-ignore
  expect(textFault(path)).toBeTypeOf("string")
})

test.each([
  "a",
  "a b",
  "..a",
  "a..",
  "...",
  "a~",
  "a$b",
  "routes/$id.tsx",
  "50%",
  "é",
  "日本語",
  "👨‍👩‍👧.png",
  "a:b",
  "[x]",
  "{y}",
  "-rf",
  "a'b\"c",
  "½",
])("%j is a path", (path) => {
  // prettier-ignore
  expect(textFault(path)).toBeUndefined()
})
