import { appendFileSync, existsSync, mkdirSync } from "node:fs"
import { dirname, join, relative, resolve } from "node:path"
import { defineConfig } from "vitest/config"
import type { Plugin } from "vite"
import type { Reporter } from "vitest/node"

const common = {
  pool: "forks" as const,
  isolate: false,
  testTimeout: 60_000,
  hookTimeout: 60_000,
  // Tests that say `concurrent` wait for a terminal most of the time.
  maxConcurrency: 30,
  setupFiles: ["src/testing/seed.ts"],
}
const patient = { ...common, testTimeout: 600_000 }

/** Kills and races: a few times each in the full tests, many times in the soak. */
const again = [
  "src/testing/reliability/*.full.test.ts",
  "src/store/sqlite/kill.full.test.ts",
  "src/agents/chain/kill.full.test.ts",
  "src/agents/society/scale.full.test.ts",
  "src/interfaces/http/load.full.test.ts",
]
/** What has to be on time in another process does not run beside other files. */
const alone = [...again, "src/call/stored/resume-across-processes.full.test.ts"]

/** In CI everything is there that a test may need, so that a test that is skipped is a failure. */
const noneSkipped: Reporter = {
  onTestRunEnd(files) {
    const skipped = files.flatMap((file) => [...file.children.allTests("skipped")])
    for (const { module, fullName } of skipped) console.error(`Skipped in CI: ${module.relativeModuleId} > ${fullName}`)
    if (skipped.length > 0) process.exitCode = 1
  },
}

/** Writes every test that ran, with its names and state, for `npm run requirements -- --report <folder>`. */
const reportTo = (folder: string): Reporter => ({
  onTestRunEnd(files) {
    mkdirSync(folder, { recursive: true })
    const lines = files.flatMap((file) =>
      [...file.children.allTests()].map((test) => {
        const names = [test.name]
        for (let suite = test.parent; suite.type === "suite"; suite = suite.parent) names.unshift(suite.name)
        return `${JSON.stringify({ file: file.relativeModuleId, names, state: test.result().state })}\n`
      }),
    )
    appendFileSync(join(folder, "tests.jsonl"), lines.join(""))
  },
})

const report = process.env["QM_TEST_REPORT"]

const [sources, built] = [resolve("src"), resolve("build")]

/** Lets the tests use the modules that were just built, so that nothing but the tests themselves is transformed. */
const builtModules: Plugin = {
  name: "built modules",
  enforce: "pre",
  resolveId(source, importer) {
    if (!source.startsWith(".") || !source.endsWith(".ts") || importer === undefined) return undefined
    const place = relative(sources, resolve(dirname(importer), source))
    const file = join(built, place.replace(/\.ts$/, ".js"))
    return !place.startsWith("..") && existsSync(file) ? file : undefined
  },
}

export default defineConfig(({ mode }) => ({
  test: {
    experimental: { fsModuleCache: true },
    reporters: [
      "default",
      ...(process.env["CI"] === undefined ? [] : [noneSkipped]),
      ...(report === undefined ? [] : [reportTo(report)]),
    ],
    projects: [
      {
        ...(mode === "built" ? { plugins: [builtModules] } : {}),
        test: {
          ...common,
          ...(mode === "built" ? { server: { deps: { external: [/\/build\//] } } } : {}),
          name: "fast",
          setupFiles: [...common.setupFiles, "src/testing/unsynced.ts"],
          maxWorkers: 3,
          include: ["{src,console/src}/**/*.test.ts"],
          exclude: ["{src,console/src}/**/*.{full,soak}.test.ts"],
        },
      },
      {
        test: {
          ...patient,
          name: "full",
          maxWorkers: 3,
          include: ["{src,test,console/src}/**/*.full.test.ts"],
          exclude: alone,
        },
      },
      {
        test: { ...patient, name: "full-alone", fileParallelism: false, include: alone, sequence: { groupOrder: 1 } },
      },
      {
        test: {
          ...patient,
          name: "soak",
          env: { QM_TEST_SOAK: "1", QM_TEST_SEED: "random" },
          fileParallelism: false,
          include: ["src/**/*.soak.test.ts", ...again],
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
}))
