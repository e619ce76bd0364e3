export * from "../../../dist/loops/anthropic.js"
