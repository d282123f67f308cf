/** The domain of ONNX Runtime's own operators. */
export const runtimeDomain = "com.microsoft";
