"""Each test gets a phone that nobody used before."""
import re
import shutil
import subprocess

import pytest


def test_a_contact_is_saved(phone_tools):
    phone_tools("mobile_launch_app", bundle_id="com.google.android.contacts")
    phone_tools("mobile_tap_element", text="Create contact")
    phone_tools("mobile_type", element_text="First name", text="Ada")
    phone_tools("mobile_tap_element", text="Save")
    assert "Ada" in phone_tools("mobile_get_accessibility_tree")


def test_a_ref_of_the_list_is_tapped(phone_tools):
    element = re.search(r'"Maps" (e\d+)', phone_tools("mobile_get_accessibility_tree"))
    phone_tools("mobile_tap_element", element_id=element[1])
    assert "Search here" in phone_tools("mobile_get_accessibility_tree")


@pytest.mark.virtual_phone("--android", "11", "--seed", "7")
def test_adb_reaches_the_phone(virtual_phone):
    if not (adb := shutil.which("adb")):
        pytest.skip("adb is not installed")
    subprocess.run([adb, "connect", virtual_phone.address], check=True, stdout=subprocess.DEVNULL)
    try:
        shell = [adb, "-s", virtual_phone.address, "shell", "getprop"]
        assert subprocess.check_output([*shell, "ro.build.version.release"], text=True).strip() == "11"
        assert subprocess.check_output([*shell, "ro.serialno"], text=True).strip() == virtual_phone.serial
    finally:
        subprocess.run([adb, "disconnect", virtual_phone.address], stdout=subprocess.DEVNULL)


@pytest.mark.virtual_phone("--ios")
def test_an_iphone_has_the_same_tools(phone_tools):
    assert "Settings" in phone_tools("mobile_get_accessibility_tree")
