import { expect, test } from "vitest"
import { commandStem } from "./command-stem.ts"

test.each([
  ["git status", "git status"],
  ["git commit -m x", "git commit"],
  ["cargo test --all", "cargo test"],
  ["docker-compose ps", "docker-compose ps"],
  ["ls -la src", "ls"],
  ["grep -r x .", "grep"],
])("a rule for '%s' names '%s'", (line, stem) => expect(commandStem(line)).toBe(stem))

test.each([
  "bash -c ls",
  "sh x.sh",
  "node scripts/a.js",
  "python3 -m pytest",
  "npx prettier .",
  "npm test",
  "npm exec x",
  "pnpm dlx x",
  "cargo run",
  "cargo install x",
  "go run .",
  "timeout 5 ls",
  "env A=1 ls",
  "xargs ls",
  "sudo ls",
  "./build.sh all",
  "make all",
  "terraform plan",
  "rm x",
  "cp a b",
  "sed -n p a",
  "find . -name x",
  "git -C sub status",
  "mytool --fast",
  "mytool a/b",
  "mytool",
])("a rule for '%s' names exactly this line", (line) => expect(commandStem(line)).toBeUndefined())
