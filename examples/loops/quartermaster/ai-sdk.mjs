export * from "../../../dist/ai-sdk.js"
