export * from "../../../dist/loops/ai-sdk.js"
