import { defineConfig } from "vitest/config"

const common = { pool: "forks" as const, isolate: false, testTimeout: 60_000, hookTimeout: 60_000 }

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          ...common,
          name: "fast",
          maxWorkers: 3,
          include: ["src/**/*.test.ts"],
          exclude: ["src/**/*.long.test.ts"],
        },
      },
      {
        test: {
          ...common,
          name: "long",
          include: ["src/**/*.long.test.ts"],
          testTimeout: 600_000,
          fileParallelism: false,
        },
      },
    ],
  },
})
