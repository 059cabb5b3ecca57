"""Builds throng._core. With THRONG_BUILD, a build folder of CMake with the static libraries, it links those and takes the
programs along; else it compiles the engine's sources itself, which needs a C compiler, pkg-config and the libraries.

SPDX-License-Identifier: Apache-2.0
"""
import os
import pathlib
import re
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

HERE = pathlib.Path(__file__).resolve().parent
# The repository, or its copy in a source archive.
ENGINE = HERE / "engine" if (HERE / "engine").is_dir() else HERE.parent
BUILD = os.environ.get("THRONG_BUILD")
PROGRAMS = ["throng", "throng-read-hdf5"]
MODULES = ["jansson", "geos", "libpng", "cairo", "sqlite3", "libzstd", "zlib"]
FLAGS = ["-std=gnu17", "-O3", "-DNDEBUG", "-fopenmp", "-fvisibility=hidden", "-ffp-contract=off", "-fno-trapping-math",
         "-fno-math-errno", "-D_GNU_SOURCE"]
SPARED = ("validate", "studio", "device", "reader", "import", "mpi")  # folders of src that the package does without


def version():
    text = (ENGINE / "include/throng/base.h").read_text()
    return ".".join(re.search(rf"TH_VERSION_{part} (\d+)", text)[1] for part in ("MAJOR", "MINOR", "PATCH"))


def pkg_config(option):
    hdf5 = next((m for m in ("hdf5-serial", "hdf5") if subprocess.run(["pkg-config", "--exists", m]).returncode == 0), "hdf5")
    return subprocess.run(["pkg-config", option, *MODULES, hdf5], check=True, capture_output=True, text=True).stdout.split()


def write_limits(folder):
    """docs/data/long_limits.csv as rows of a C table, as CMakeLists.txt writes it."""
    rows = []
    for line in (ENGINE / "docs/data/long_limits.csv").read_text().splitlines():
        match = re.match(r"([a-z_]+),([a-z_]+),(door|two_way),[^,]*,([^,]*),", line)
        if match:
            value = "INFINITY" if match[4] == "inf" else f"(float){match[4]}"
            rows.append(f'{{"{match[1]}", "{match[2]}", "{match[3]}", {value}}},\n')
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "limits_found.inc").write_text("".join(rows))


def engine_sources():
    for source in sorted((ENGINE / "src").rglob("*.c")):
        parts = source.relative_to(ENGINE / "src").parts
        if parts[0] not in SPARED and "reader" not in parts and "system" not in parts and parts[-1] != "no_hdf5.c":
            yield str(source)
    yield str(ENGINE / "src/device/none.c")
    yield from (str(ENGINE / f"src/validate/{name}.c") for name in ("diagram", "corridors"))  # for throng.fit
    yield str(ENGINE / "src/core/system/posix.c")


class BuildExtension(build_ext):
    def build_extension(self, extension):
        if not BUILD:
            self.compile_engine(extension)
        super().build_extension(extension)

    def compile_engine(self, extension):
        folder = pathlib.Path(self.build_temp).resolve()
        write_limits(folder)
        include = [str(ENGINE / "include"), str(ENGINE / "src"), str(folder)]

        def compile_one(source):
            return self.compiler.compile([source], output_dir=str(folder), include_dirs=include,
                                         extra_postargs=[*FLAGS, "-fPIC", *pkg_config("--cflags")])

        with ThreadPoolExecutor(os.cpu_count()) as pool:
            for objects in pool.map(compile_one, engine_sources()):
                extension.extra_objects[:0] = objects


class BuildPackage(build_py):
    """Takes the programs of the build folder along: pictures in motion, the studio, HDF5."""

    def run(self):
        super().run()
        for name in PROGRAMS if BUILD else []:
            program = pathlib.Path(BUILD) / name
            if program.is_file():
                shutil.copy2(program, pathlib.Path(self.build_lib) / "throng" / name)


class SourceArchive(sdist):
    """The engine's sources go along, so that the archive builds by itself."""

    def make_release_tree(self, base_dir, files):
        super().make_release_tree(base_dir, files)
        engine = pathlib.Path(base_dir) / "engine"
        for folder in ("include", "src"):
            shutil.copytree(ENGINE / folder, engine / folder, ignore=shutil.ignore_patterns("*.cu", "*.cuh"), dirs_exist_ok=True)
        shutil.copytree(HERE / "core", pathlib.Path(base_dir) / "core", dirs_exist_ok=True)
        (engine / "docs/data").mkdir(parents=True, exist_ok=True)
        shutil.copy2(ENGINE / "docs/data/long_limits.csv", engine / "docs/data")
        shutil.copy2(ENGINE / "LICENSE", engine)


def libraries():
    if not BUILD:
        return []
    return [str(pathlib.Path(BUILD).resolve() / f"libthrong{part}.a") for part in ("_validate", "-run", "-record", "")]


def main():
    os.chdir(HERE)
    setup(
        version=version(),
        ext_modules=[Extension(
            "throng._core",
            sorted(str(p.relative_to(HERE)) for p in (HERE / "core").glob("*.c")),
            include_dirs=[str(ENGINE / "include"), str(ENGINE / "src")],
            define_macros=[("Py_LIMITED_API", "0x03080000")],
            py_limited_api=True,
            extra_objects=libraries(),
            extra_compile_args=[*FLAGS, "-Wall", "-Wextra", *pkg_config("--cflags")],
            extra_link_args=["-fopenmp", *pkg_config("--libs"), "-lm", "-ldl"],
        )],
        cmdclass={"build_ext": BuildExtension, "build_py": BuildPackage, "sdist": SourceArchive},
        options={"bdist_wheel": {"py_limited_api": "cp38"}},
    )


if __name__ == "__main__":
    main()
