// Builds the library with tsc and the command line as one bundle. `--if-needed` skips a build nothing has changed for.
import { execFileSync } from "node:child_process"
import { rmSync } from "node:fs"
import { build } from "esbuild"

rmSync("dist", { recursive: true, force: true })
execFileSync(process.execPath, ["node_modules/typescript/bin/tsc", "-p", "tsconfig.build.json"], { stdio: "inherit" })
await build({
  entryPoints: { qm: "src/bin.ts" },
  outdir: "dist",
  bundle: true,
  splitting: true,
  chunkNames: "chunks/[name]-[hash]",
  platform: "node",
  format: "esm",
  target: "node20",
  minify: true,
  keepNames: false,
  sourcemap: false,
  external: ["@photostructure/sqlite", "ajv", "ajv-formats", "re2js"],
  banner: { js: "#!/usr/bin/env node\nimport { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);" },
  logLevel: "warning",
})
