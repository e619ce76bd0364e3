export * from "../../../dist/anthropic.js"
