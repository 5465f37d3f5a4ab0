"""Without scikit-learn one line says what to install."""

import subprocess
import sys


def test_one_line_says_what_to_install():
    program = "import sys; sys.modules['sklearn'] = None; import nbsql.sklearn"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == "ImportError: nbsql.sklearn needs scikit-learn: pip install 'nbsql[sklearn]'"
